/** Owns time: reads the host on absolute deadlines while there is demand, and on request. */
import type { Clock } from '../clock.ts';
import { type Counters, type Host, SECTION_BITS } from '../host/host.ts';
import type { Log } from '../log.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { failedParts } from './details.ts';
import { Failures } from './failures.ts';
import {
  type Baseline,
  type BaselineField,
  deriveSample,
  mergeBaselines,
  NO_BASELINE,
  type Sample,
} from './sample.ts';
import type { SampleSink, SampleSource } from './source.ts';
import { Encoded, VIEW_COUNT, type View } from './view.ts';

export interface SamplerOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  readonly hostname: string;
  /** undefined: processes are not supported on this platform. */
  readonly processes?: ProcessSummaries | undefined;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** The processes of a detailed sample. Neither waits. */
export interface ProcessSummaries {
  /** Asks for a reading that is there in `inMs` from `now`, unless the last one is recent enough. */
  ask(now: Pick<Counters, 'sinceBootNs'>, inMs: number, intervalMs: number): void;
  /** null while there is no recent reading; undefined while they must not be shown. */
  summary(now: Pick<Counters, 'sinceBootNs'>, intervalMs: number): ProcessSummary | null | undefined;
}

/** Maximum age of a sample that answers a request. */
const FRESH_MS = 1000;
/** The window of a first load: a shorter one is noise (a tick of the kernel is 10 ms), a longer one is a wait. */
const FIRST_WINDOW_MS = 200;
/** Time for the probers to answer before a requested reading. */
const PROBE_WAIT_MS = 25;

interface CachedSample {
  readonly encoded: Encoded;
  readonly needs: Needs;
  /** Of the clock that counts suspended time: a sample from before a sleep is not fresh after it. */
  readonly sinceBootMs: number;
}

interface Needs {
  readonly sections: number;
  readonly withDetail: boolean;
}

const covers = (have: Needs, wanted: Needs) =>
  (wanted.sections & ~have.sections) === 0 && (have.withDetail || !wanted.withDetail);

/** The key of the last reading with detail, whatever the sections. */
const DETAILS_KEY = 1 << 10;

/** A section's bit is the key of its last reading; the bit shifted by five is that of its last reading with detail. */
function keysOf({ sections, withDetail }: Needs): readonly number[] {
  const bits = Object.values(SECTION_BITS).filter((bit) => (sections & bit) !== 0);
  return withDetail ? [...bits, ...bits.map(detailKey), DETAILS_KEY] : bits;
}

const detailKey = (bit: number) => bit << 5;

const KEY_OF: Readonly<Record<BaselineField, number>> = {
  cpu: SECTION_BITS.cpu,
  cores: detailKey(SECTION_BITS.cpu),
  energy: detailKey(SECTION_BITS.cpu),
  disks: detailKey(SECTION_BITS.disks),
  network: SECTION_BITS.network,
  details: DETAILS_KEY,
};

export class Sampler implements SampleSource {
  readonly #options: SamplerOptions;
  readonly #sinks = new Set<SampleSink>();
  readonly #demand = new Uint32Array(VIEW_COUNT);
  #needs: Needs = { sections: 0, withDetail: false };
  #intervalMs: number;
  #baseline: Baseline = NO_BASELINE;
  /** When each key of `keysOf` was last read into the baseline. */
  #baselineAtMs = new Map<number, number>();
  #latest: CachedSample | undefined;
  #pending: { readonly needs: Needs; readonly promise: Promise<Encoded> } | undefined;
  #timer: unknown;
  #deadlineMs = 0;
  readonly #failures: Failures;

  constructor(options: SamplerOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalSeconds * 1000;
    const { log } = options;
    this.#failures = new Failures((section, reason) =>
      reason === undefined
        ? log.info(`${section} can be read again`)
        : log.warn(`${section} cannot be read: ${reason}`),
    );
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

  /** Sends `sink` the sample of each tick, until the returned function is called. */
  attach(sink: SampleSink): () => void {
    this.#sinks.add(sink);
    if (sink.view !== undefined) this.subscribe(sink.view);
    return () => {
      if (this.#sinks.delete(sink) && sink.view !== undefined) this.unsubscribe(sink.view);
    };
  }

  subscribe(view: View): void {
    this.#demand[view.index] = (this.#demand[view.index] ?? 0) + 1;
    if (!covers(this.#needs, view)) this.#updateNeeds();
    if (this.#timer === undefined) this.#schedule(this.#options.clock.now() + this.#intervalMs);
  }

  unsubscribe(view: View): void {
    const count = this.#demand[view.index] ?? 0;
    if (count === 0) throw new Error('unsubscribed a view without subscribers');
    this.#demand[view.index] = count - 1;
    if (count > 1) return;
    this.#updateNeeds();
    if (this.#needs.sections !== 0 || this.#demand.some((n) => n > 0)) return;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** Takes effect from the next tick on; a tick that is further away than the new interval is brought forward. */
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

  peek(view: View): Encoded | undefined {
    const latest = this.#latest;
    if (latest === undefined || this.#options.clock.sinceBoot() - latest.sinceBootMs >= FRESH_MS)
      return undefined;
    return covers(latest.needs, view) ? latest.encoded : undefined;
  }

  /** For a first load: over two readings 200 ms apart. */
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

  async #takeOnRequest(view: View): Promise<Encoded> {
    const { clock } = this.#options;
    const age = this.#baselineAge(view);
    const isFirst = age > 2 * this.#intervalMs;
    const wait = isFirst ? FIRST_WINDOW_MS : Math.max(PROBE_WAIT_MS, FIRST_WINDOW_MS - age);
    // Asks the probers, and starts the window of everything that has none yet.
    const opening = this.#read(view, wait, this.#baseline).baseline;
    const start = mergeBaselines(this.#baseline, opening, (field) => !this.#isRecent(KEY_OF[field]));
    await new Promise<void>((resolve) => clock.setTimer(resolve, wait));
    const young = this.peek(view);
    if (young !== undefined) return young;
    const nextInMs = this.#timer === undefined ? this.#intervalMs : Math.max(0, this.nextTickInMs);
    const { sample, baseline } = this.#read(view, nextInMs, { ...start, totals: this.#baseline.totals });
    this.#advance(view, baseline, this.#timer !== undefined);
    return this.#keep(view, sample);
  }

  #ageOf(key: number): number {
    return this.#options.clock.now() - (this.#baselineAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
  }

  #isRecent(key: number): boolean {
    return this.#ageOf(key) <= 2 * this.#intervalMs;
  }

  /** Age of the reading that `needs` would be compared with: the oldest one when it is not recent, otherwise the youngest. */
  #baselineAge(needs: Needs): number {
    const ages = keysOf(needs).map((key) => this.#ageOf(key));
    if (ages.length === 0) return FIRST_WINDOW_MS;
    const oldest = Math.max(...ages);
    return oldest > 2 * this.#intervalMs ? oldest : Math.min(...ages);
  }

  /** While the clock runs the ticks own the baseline: a request between two ticks must not shorten their window. */
  #advance(read: Needs, baseline: Baseline, onlyMissing: boolean): void {
    const keys = keysOf(read).filter((key) => !onlyMissing || !this.#isRecent(key));
    this.#baseline = mergeBaselines(this.#baseline, baseline, (field) => keys.includes(KEY_OF[field]));
    const now = this.#options.clock.now();
    for (const key of keys) this.#baselineAtMs.set(key, now);
  }

  #read(needs: Needs, nextInMs: number, baseline: Baseline) {
    const { host, hostname } = this.#options;
    const counters = host.readCounters(needs.sections, needs.withDetail, nextInMs);
    this.#failures.note(needs, counters.failures);
    if (!needs.withDetail) return deriveSample(baseline, counters);
    this.#failures.noteParts(failedParts(counters));
    const about = { interval_seconds: this.#intervalMs / 1000, host: hostname };
    const processes = this.#options.processes?.summary(counters, this.#intervalMs);
    this.#options.processes?.ask(counters, nextInMs, this.#intervalMs);
    return deriveSample(baseline, counters, processes === undefined ? about : { ...about, processes });
  }

  #keep(needs: Needs, sample: Sample): Encoded {
    const encoded = new Encoded(sample);
    this.#latest = { encoded, needs, sinceBootMs: this.#options.clock.sinceBoot() };
    return encoded;
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
    const { clock } = this.#options;
    const now = clock.now();
    // setTimeout may fire up to a millisecond early; deadlines are absolute, so lateness never adds up.
    let next = this.#deadlineMs + this.#intervalMs;
    if (next <= now) next = now + this.#intervalMs - ((now - this.#deadlineMs) % this.#intervalMs);
    this.#schedule(next);
    const needs = this.#needs;
    const derived = this.#tryRead(needs, next - now);
    if (derived === undefined) return;
    this.#advance(needs, derived.baseline, false);
    const encoded = this.#keep(needs, derived.sample);
    for (const sink of this.#sinks) sink.publish(encoded);
  }

  /** A tick has no caller to throw to: its error is logged. */
  #tryRead(needs: Needs, nextInMs: number) {
    try {
      return this.#read(needs, nextInMs, this.#baseline);
    } catch (error) {
      this.#failures.noteHost(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }
}
