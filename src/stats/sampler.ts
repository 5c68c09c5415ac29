/** Owns time: reads the host on absolute deadlines while there is demand, and on request; nothing in between. */
import type { Clock } from '../clock.ts';
import type { Host } from '../host/host.ts';
import { type Baseline, deriveSample, NO_BASELINE, type Sample } from './sample.ts';
import { Encoded, VIEW_COUNT, type View } from './view.ts';

export interface SamplerOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly hostname: string;
  /** Called with each tick's sample while there is demand. */
  readonly onSample: (encoded: Encoded) => void;
  /** Told once when a section turns unreadable or readable again: its name, and why or undefined. */
  readonly onSectionChange: (section: string, reason: string | undefined) => void;
}

/** A sample this young answers a request; an older one is taken afresh. */
const FRESH_MS = 1000;
/** The window of a first load: shorter is noise (a tick of the kernel is 10 ms), longer is a wait. */
const FIRST_WINDOW_MS = 200;
/** What probers are given to answer before a requested reading. */
const PROBE_WAIT_MS = 25;

interface Taken {
  readonly encoded: Encoded;
  readonly needs: Needs;
  readonly atMs: number;
}

interface Needs {
  readonly sections: number;
  readonly withDetail: boolean;
}

const covers = (have: Needs, wanted: Needs) =>
  (wanted.sections & ~have.sections) === 0 && (have.withDetail || !wanted.withDetail);

export class Sampler {
  readonly #options: SamplerOptions;
  readonly #demand = new Uint32Array(VIEW_COUNT);
  #needs: Needs = { sections: 0, withDetail: false };
  #intervalMs: number;
  #baseline: Baseline = NO_BASELINE;
  /** When each section was last read into the baseline; ms, -Infinity: never. */
  #baselineAtMs = new Map<number, number>();
  #latest: Taken | undefined;
  #pending: { readonly needs: Needs; readonly promise: Promise<Encoded> } | undefined;
  #timer: unknown;
  #deadlineMs = 0;
  readonly #failing = new Map<string, string>();

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalSeconds * 1000;
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** Milliseconds until the next tick; Infinity while nobody is subscribed. */
  get nextTickInMs(): number {
    return this.#timer === undefined
      ? Number.POSITIVE_INFINITY
      : this.#deadlineMs - this.#options.clock.now();
  }

  /** One more subscriber of `view`; the first of all starts the clock. */
  subscribe(view: View): void {
    this.#demand[view.index] = (this.#demand[view.index] ?? 0) + 1;
    if (!covers(this.#needs, view)) this.#updateNeeds();
    if (this.#timer === undefined) this.#schedule(this.#options.clock.now() + this.#intervalMs);
  }

  /** One subscriber of `view` less; the last of all stops the clock. */
  unsubscribe(view: View): void {
    const count = this.#demand[view.index] ?? 0;
    if (count === 0) throw new Error('unsubscribed a view that nobody subscribed');
    this.#demand[view.index] = count - 1;
    if (count > 1) return;
    this.#updateNeeds();
    if (this.#needs.sections !== 0 || this.#demand.some((n) => n > 0)) return;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** From the next tick on; a tick that is further away than the new interval is brought forward. */
  setInterval(seconds: number): void {
    this.#intervalMs = seconds * 1000;
    if (this.#timer === undefined) return;
    this.#options.clock.clearTimer(this.#timer);
    this.#schedule(Math.min(this.#deadlineMs, this.#options.clock.now() + this.#intervalMs));
  }

  close(): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** The latest sample that has what `view` needs, if it is younger than a second. */
  peek(view: View): Encoded | undefined {
    const latest = this.#latest;
    if (latest === undefined || this.#options.clock.now() - latest.atMs >= FRESH_MS) return undefined;
    return covers(latest.needs, view) ? latest.encoded : undefined;
  }

  /** As peek, else a sample taken now (for a first load: over two readings 200 ms apart). */
  async latest(view: View): Promise<Encoded> {
    const young = this.peek(view);
    if (young !== undefined) return young;
    if (this.#pending !== undefined && covers(this.#pending.needs, view)) return await this.#pending.promise;
    const pending = { needs: view, promise: this.#takeOnRequest(view) };
    this.#pending = pending;
    try {
      return await pending.promise;
    } finally {
      if (this.#pending === pending) this.#pending = undefined;
    }
  }

  async #takeOnRequest(needs: Needs): Promise<Encoded> {
    const { clock } = this.#options;
    const isFirst = !this.#hasRecentBaseline(needs);
    // The first reading also sets the probers to work; its answer is not kept unless it is the window's start.
    const wait = isFirst ? FIRST_WINDOW_MS : PROBE_WAIT_MS;
    const opening = this.#read(needs, wait);
    if (isFirst) this.#advance(opening.needs, opening.derived.baseline);
    await new Promise<void>((resolve) => clock.setTimer(resolve, wait));
    const { derived, needs: read } = this.#read(needs, this.#intervalMs);
    // While the clock runs the ticks own the baseline: a request between two of them must not shorten their window.
    if (this.#timer === undefined || isFirst) this.#advance(read, derived.baseline);
    return this.#keep(read, derived.sample);
  }

  #hasRecentBaseline(needs: Needs): boolean {
    const oldest = this.#options.clock.now() - 2 * this.#intervalMs;
    for (let bit = 1; bit <= needs.sections; bit <<= 1)
      if ((needs.sections & bit) !== 0 && (this.#baselineAtMs.get(bit) ?? Number.NEGATIVE_INFINITY) < oldest)
        return false;
    return true;
  }

  #advance(read: Needs, baseline: Baseline): void {
    this.#baseline = baseline;
    const now = this.#options.clock.now();
    for (let bit = 1; bit <= read.sections; bit <<= 1)
      if ((read.sections & bit) !== 0) this.#baselineAtMs.set(bit, now);
  }

  #read(needs: Needs, nextInMs: number) {
    const { host, hostname } = this.#options;
    const counters = host.readCounters(needs.sections, needs.withDetail, nextInMs);
    this.#noteFailures(counters.failures);
    const top = needs.withDetail ? { interval_seconds: this.#intervalMs / 1000, host: hostname } : undefined;
    return { needs, derived: deriveSample(this.#baseline, counters, top) };
  }

  #keep(needs: Needs, sample: Sample): Encoded {
    const encoded = new Encoded(sample);
    this.#latest = { encoded, needs, atMs: this.#options.clock.now() };
    return encoded;
  }

  #noteFailures(failures: Readonly<Record<string, string>> | undefined): void {
    if (failures === undefined && this.#failing.size === 0) return;
    const { onSectionChange } = this.#options;
    for (const [section, reason] of Object.entries(failures ?? {})) {
      if (this.#failing.get(section) === reason) continue;
      this.#failing.set(section, reason);
      onSectionChange(section, reason);
    }
    for (const section of this.#failing.keys()) {
      if (failures?.[section] !== undefined) continue;
      this.#failing.delete(section);
      onSectionChange(section, undefined);
    }
  }

  #updateNeeds(): void {
    let sections = 0;
    let withDetail = false;
    this.#demand.forEach((count, index) => {
      if (count === 0) return;
      sections |= index & 31;
      withDetail ||= index > 31;
    });
    this.#needs = { sections, withDetail };
  }

  #schedule(deadlineMs: number): void {
    const { clock } = this.#options;
    this.#deadlineMs = deadlineMs;
    this.#timer = clock.setTimer(() => this.#tick(), Math.max(0, deadlineMs - clock.now()));
  }

  #tick(): void {
    const { clock, onSample } = this.#options;
    const now = clock.now();
    // setTimeout may fire up to a millisecond early; deadlines are absolute, so lateness never adds up.
    let next = this.#deadlineMs + this.#intervalMs;
    if (next <= now) next = now + this.#intervalMs - ((now - this.#deadlineMs) % this.#intervalMs);
    this.#schedule(next);
    const { needs, derived } = this.#read(this.#needs, next - now);
    this.#advance(needs, derived.baseline);
    onSample(this.#keep(needs, derived.sample));
  }
}
