/** Reads the host, and keeps the readings that the next one is compared with. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Counters, Host } from '../host/host.ts';
import type { Log } from '../log/log.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceBaseline, type Baseline, NO_BASELINE, newestOf } from './baseline.ts';
import type { SampleFacts } from './detail-row.ts';
import { failedParts } from './details.ts';
import { Failures } from './failures.ts';
import { bitsOf, covers, needsOf, unite, wantsProcesses, windowed } from './needs.ts';
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
  /** Requests a reading that is available in `inMs` from `now`, unless the last one is recent enough. */
  ask(now: Pick<Counters, 'sinceBootNs'>, inMs: number, intervalMs: number): void;
  /** Returns null without a recent reading; undefined while they must not be shown. */
  summary(now: Pick<Counters, 'sinceBootNs'>, intervalMs: number): ProcessSummary | null | undefined;
}

/** The content of a tick. Sets of keys; 0 is none. */
export interface Tick {
  /** For the subscribers; undefined if this is not one of their ticks. */
  readonly demand: number | undefined;
  /** For the slow demand, if it is due. */
  readonly slow: number;
  /** Keys that the next reading needs beyond these: read only so that its probers are asked before it. */
  readonly ahead: number;
  readonly nextInMs: number;
  readonly nextTickInMs: number;
}

/** The window of a first load: a shorter one is noise (a tick of the kernel is 10 ms), a longer one is a wait. */
export const FIRST_WINDOW_MS = 200;
/** Time for the probers to answer before a requested reading. */
export const PROBE_WAIT_MS = 25;
/** Maximum time for the first answers of probers: one that hangs must not keep all others from being shown. */
const FIRST_ANSWERS_MS = 1000;

/**
 * Keys are those of `keysOf` (needs.ts). Ticks are compared with ticks and requests with requests: neither shortens the
 * window of the other. All but `windowMs` and `expire` throw what the host throws.
 */
export class SampleReader {
  /** Interval of the ticks. */
  intervalMs: number;
  readonly #options: SampleReaderOptions;
  /** Baseline of the ticks for subscribers. */
  #ticks: Baseline = NO_BASELINE;
  /** Keys of the last of them; 0 since they have stopped. */
  #tickKeys = 0;
  /** Baseline of these ticks and of the readings for the slow demand. */
  #latest: Baseline = NO_BASELINE;
  /** The time of each key of `#latest`. */
  readonly #tickAtMs = new Map<number, number>();
  #polls = new PollBaseline();
  /** Time of the first reading of each key, until its probers have answered. */
  readonly #awaitedSinceMs = new Map<number, number>();
  /** Keys whose probers have answered once, or have had the time to. */
  #answered = 0;
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
   * Returns the sample of a tick. Values for subscribers cover the time since the previous tick, or since the last
   * reading of any kind if that tick has not read them; values for the slow demand only cover the time since the last
   * tick of either kind. `isWhole`: all of them cover some time, and no prober's first answer is missing.
   */
  readTick({ demand: demanded, slow, ahead, nextInMs, nextTickInMs }: Tick): {
    readonly sample: Sample;
    readonly isWhole: boolean;
  } {
    const demand = demanded ?? 0;
    const keys = unite(demand, slow);
    const isOpen = this.#isOpen(keys);
    const counters = this.#read(unite(keys, ahead), nextInMs);
    const newest = newestOf(this.#latest, this.#polls.newest);
    const slowly = keysThat(keys & ~demand, (key) => this.#hasTick(key));
    const before = withKeys(withKeys(newest, this.#latest, slowly), this.#ticks, demand & this.#tickKeys);
    const { sample, baseline } = this.#derive(keys, before, counters);
    this.#ticks = withKeys(this.#ticks, baseline, demand);
    this.#tickKeys = demanded ?? this.#tickKeys;
    this.#keepLatest(keys, baseline);
    if (wantsProcesses(demand)) this.#options.processes?.ask(counters, nextTickInMs, this.intervalMs);
    return { sample, isWhole: isOpen && this.#areAnswered(keys) };
  }

  /**
   * Prepares the first reading of `keys` for the slow demand: begins their windows, and has their probers
   * asked. Returns how long that takes; 0 when nothing is missing.
   */
  prepareSlow(keys: number): number {
    if (this.#isOpen(keys)) return this.haveAnswered(keys) ? 0 : FIRST_WINDOW_MS;
    const counters = this.#read(keys, FIRST_WINDOW_MS);
    this.#keepLatest(keys, advanceBaseline(this.#latest, counters, needsOf(keys).withDetail));
    return FIRST_WINDOW_MS;
  }

  endTicks(): void {
    this.#tickKeys = 0;
  }

  /** Returns how long a requested reading of `keys` has to wait for its probers and its windows. */
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
   * Returns whether the probers behind `keys` have answered once, or have had the time to. If that is unknown yet, it
   * reads, and has them asked before PROBE_WAIT_MS are over.
   */
  haveAnswered(keys: number): boolean {
    if (!this.#areAnswered(keys)) this.#read(keys, PROBE_WAIT_MS);
    return this.#areAnswered(keys);
  }

  /**
   * Takes the first of the two readings of a request, which is ready in `waitMs`: begins the windows of those of `keys`
   * that have nothing to be compared with, and has the probers asked before the next reading of any kind, in
   * `nextInMs`. Returns `start` with the values that `keys` will be compared with.
   */
  open(keys: number, waitMs: number, nextInMs: number, start: Baseline): Baseline {
    const opened = windowed(keys);
    if (opened === 0) return start;
    const counters = this.#read(opened, nextInMs);
    if (wantsProcesses(opened)) this.#options.processes?.ask(counters, waitMs, this.intervalMs);
    const now = this.#options.clock.now();
    const fresh = advanceBaseline(NO_BASELINE, counters, needsOf(opened).withDetail);
    const ticked = withKeys(
      fresh,
      this.#latest,
      keysThat(opened, (key) => this.#hasTick(key)),
    );
    const polled = keysThat(opened, (key) => this.#polls.knows(key, now));
    return withKeys(start, withKeys(ticked, this.#polls.at(now), polled), opened);
  }

  /** Takes the second one. */
  readRequest(keys: number, start: Baseline, nextInMs: number): Sample {
    const counters = this.#read(keys, nextInMs);
    const { sample, baseline } = this.#derive(keys, start, counters);
    this.#polledAtMs = this.#options.clock.now();
    this.#polls.keep(keys, baseline, start, this.#polledAtMs);
    return sample;
  }

  /** Drops readings that are too old; returns the milliseconds until others will be, or undefined if none will. */
  expire(): number | undefined {
    const now = this.#options.clock.now();
    if (now - this.#polledAtMs >= MAX_BASELINE_AGE_MS) this.#polls = new PollBaseline();
    const areTicking = this.#tickKeys !== 0;
    if (!areTicking && now - this.#tickedAtMs >= MAX_BASELINE_AGE_MS)
      this.#ticks = this.#latest = NO_BASELINE;
    const lastMs = Math.max(this.#polledAtMs, areTicking ? Number.NEGATIVE_INFINITY : this.#tickedAtMs);
    const restMs = lastMs + MAX_BASELINE_AGE_MS - now;
    return restMs > 0 ? restMs : undefined;
  }

  /** Logs an error that cannot be thrown to a caller. */
  noteError(error: unknown): void {
    this.#failures.noteHost(messageOf(error));
  }

  #read(keys: number, nextInMs: number): Counters {
    const needs = needsOf(keys);
    const { sections, withDetail, details } = needs;
    const counters = this.#options.host.readCounters(sections, withDetail, nextInMs, details);
    this.#noteAnswers(keys, counters.awaitsAnswers === true);
    this.#failures.note(needs, counters.failures);
    if (withDetail) this.#failures.noteParts(failedParts(counters));
    return counters;
  }

  #noteAnswers(keys: number, areAwaited: boolean): void {
    const now = this.#options.clock.now();
    for (const key of bitsOf(keys & ~this.#answered)) {
      const sinceMs = this.#awaitedSinceMs.get(key) ?? now;
      this.#awaitedSinceMs.set(key, sinceMs);
      if (!areAwaited || now - sinceMs >= FIRST_ANSWERS_MS) this.#answered |= key;
    }
  }

  #areAnswered = (keys: number) => covers(this.#answered, windowed(keys));

  /** Returns whether a reading of `keys` now has something to be compared with. */
  #isOpen(keys: number): boolean {
    const now = this.#options.clock.now();
    return bitsOf(windowed(keys)).every((key) => this.#hasTick(key) || this.#polls.knows(key, now));
  }

  #keepLatest(keys: number, baseline: Baseline): void {
    this.#latest = withKeys(this.#latest, baseline, keys);
    this.#tickedAtMs = this.#options.clock.now();
    for (const key of bitsOf(keys)) this.#tickAtMs.set(key, this.#tickedAtMs);
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
