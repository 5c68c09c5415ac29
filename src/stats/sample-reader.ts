/** Reads the host, and keeps what the next reading is compared with. */
import type { Clock } from '../clock.ts';
import type { Counters, Host } from '../host/host.ts';
import type { Log } from '../log/log.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceBaseline, type Baseline, NO_BASELINE, newestOf } from './baseline.ts';
import type { SampleFacts } from './detail-row.ts';
import { failedParts } from './details.ts';
import { Failures } from './failures.ts';
import { bitsOf, needsOf, wantsProcesses, windowed } from './needs.ts';
import { NO_TOTALS } from './network-totals.ts';
import { keysThat, MAX_BASELINE_AGE_MS, PollBaseline, withKeys } from './poll-baseline.ts';
import { deriveSample, type Sample } from './sample.ts';

export interface SampleReaderOptions {
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

/** The window of a first load: a shorter one is noise (a tick of the kernel is 10 ms), a longer one is a wait. */
export const FIRST_WINDOW_MS = 200;
/** Time for the probers to answer before a requested reading. */
const PROBE_WAIT_MS = 25;

/**
 * Keys are those of `keysOf` (needs.ts). Ticks are compared with ticks and requests with requests: neither shortens the
 * window of the other. All but `windowMs` and `expire` throw what the host throws.
 */
export class SampleReader {
  /** Of the ticks. */
  intervalMs: number;
  readonly #options: SampleReaderOptions;
  #ticks: Baseline = NO_BASELINE;
  /** What the last tick has read; nothing since the ticks have stopped. */
  #tickKeys = 0;
  /** When each key was last read by a tick. */
  readonly #tickAtMs = new Map<number, number>();
  #polls = new PollBaseline();
  #tickedAtMs = Number.NEGATIVE_INFINITY;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  #totals = NO_TOTALS;
  readonly #failures: Failures;

  constructor(options: SampleReaderOptions) {
    this.#options = options;
    this.intervalMs = options.intervalSeconds * 1000;
    const { log } = options;
    this.#failures = new Failures((section, reason) =>
      reason === undefined
        ? log.info(`${section} can be read again`)
        : log.warn(`${section} cannot be read: ${reason}`),
    );
  }

  /**
   * The sample of a tick, over the time since the tick before; the next one comes in `nextInMs`. What the tick before
   * has not read is compared with the last reading of all.
   */
  readTick(keys: number, nextInMs: number): Sample {
    const counters = this.#read(keys, nextInMs);
    const before = withKeys(newestOf(this.#ticks, this.#polls.newest), this.#ticks, this.#tickKeys);
    const { sample, baseline } = this.#derive(keys, before, counters);
    this.#ticks = withKeys(this.#ticks, baseline, keys);
    this.#tickKeys = keys;
    this.#tickedAtMs = this.#options.clock.now();
    for (const key of bitsOf(keys)) this.#tickAtMs.set(key, this.#tickedAtMs);
    if (wantsProcesses(keys)) this.#options.processes?.ask(counters, nextInMs, this.intervalMs);
    return sample;
  }

  endTicks(): void {
    this.#tickKeys = 0;
  }

  /** How long a requested reading of `keys` has to wait for its probers and its windows. */
  windowMs(keys: number): number {
    return Math.max(0, ...bitsOf(windowed(keys)).map((key) => this.#windowMs(key)));
  }

  #windowMs(key: number): number {
    if (this.#polls.knows(key, this.#options.clock.now())) return PROBE_WAIT_MS;
    return this.#hasTick(key)
      ? Math.max(PROBE_WAIT_MS, FIRST_WINDOW_MS - this.#tickAgeMs(key))
      : FIRST_WINDOW_MS;
  }

  /**
   * The first of the two readings of a request: asks the probers, and begins the windows of those of `keys` that have
   * nothing to be compared with. Returns `start` with what `keys` will be compared with.
   */
  open(keys: number, waitMs: number, start: Baseline): Baseline {
    const opened = windowed(keys);
    if (opened === 0) return start;
    const counters = this.#read(opened, waitMs);
    if (wantsProcesses(opened)) this.#options.processes?.ask(counters, waitMs, this.intervalMs);
    const now = this.#options.clock.now();
    const fresh = advanceBaseline(NO_BASELINE, counters, needsOf(opened).withDetail);
    const ticked = withKeys(
      fresh,
      this.#ticks,
      keysThat(opened, (key) => this.#hasTick(key)),
    );
    const polled = keysThat(opened, (key) => this.#polls.knows(key, now));
    return withKeys(start, withKeys(ticked, this.#polls.at(now), polled), opened);
  }

  /** The second one. */
  readRequest(keys: number, start: Baseline, nextInMs: number): Sample {
    const counters = this.#read(keys, nextInMs);
    const { sample, baseline } = this.#derive(keys, start, counters);
    this.#polledAtMs = this.#options.clock.now();
    this.#polls.keep(keys, baseline, start, this.#polledAtMs);
    return sample;
  }

  /** Drops the readings that are too old; returns the milliseconds until others will be, or undefined if none will. */
  expire(): number | undefined {
    const now = this.#options.clock.now();
    if (now - this.#polledAtMs >= MAX_BASELINE_AGE_MS) this.#polls = new PollBaseline();
    const areTicking = this.#tickKeys !== 0;
    if (!areTicking && now - this.#tickedAtMs >= MAX_BASELINE_AGE_MS) this.#ticks = NO_BASELINE;
    const lastMs = Math.max(this.#polledAtMs, areTicking ? Number.NEGATIVE_INFINITY : this.#tickedAtMs);
    const restMs = lastMs + MAX_BASELINE_AGE_MS - now;
    return restMs > 0 ? restMs : undefined;
  }

  /** After an error that has no caller to be thrown to. */
  noteError(error: unknown): void {
    this.#failures.noteHost(error instanceof Error ? error.message : String(error));
  }

  #read(keys: number, nextInMs: number): Counters {
    const needs = needsOf(keys);
    const { sections, withDetail, details } = needs;
    const counters = this.#options.host.readCounters(sections, withDetail, nextInMs, details);
    this.#failures.note(needs, counters.failures);
    if (withDetail) this.#failures.noteParts(failedParts(counters));
    return counters;
  }

  #derive(keys: number, before: Baseline, counters: Counters) {
    const derived = deriveSample(
      { ...before, totals: this.#totals },
      counters,
      this.#factsFor(keys, counters),
    );
    this.#totals = derived.baseline.totals;
    return derived;
  }

  #factsFor(keys: number, counters: Counters): SampleFacts | undefined {
    if (!needsOf(keys).withDetail) return undefined;
    const { hostname, processes } = this.#options;
    const facts = { interval_seconds: this.intervalMs / 1000, host: hostname };
    const summary = wantsProcesses(keys) ? processes?.summary(counters, this.intervalMs) : undefined;
    return summary === undefined ? facts : { ...facts, processes: summary };
  }

  #tickAgeMs(key: number): number {
    return this.#options.clock.now() - (this.#tickAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
  }

  #hasTick(key: number): boolean {
    return this.#tickAgeMs(key) <= MAX_BASELINE_AGE_MS;
  }
}
