/** Reads the host, and keeps the readings that the next one is compared with. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Counters, Host } from '../host/host.ts';
import type { Log } from '../log/log.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceBaseline, type Baseline, NO_BASELINE } from './baseline.ts';
import type { SampleFacts } from './detail-row.ts';
import { failedParts } from './details.ts';
import { Failures } from './failures.ts';
import { bitsOf, covers, needsOf, unite, wantsProcesses, windowed } from './needs.ts';
import { NO_TOTALS } from './network-totals.ts';
import { keysThat, Readings, withKeys } from './readings.ts';
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
 * Minimum age of a requested reading that another one is compared with: with a younger one the second of two requests
 * of different views would be answered with noise. Less than the time between two readings of one view (FRESH_MS) less
 * the wait for a window.
 */
const WINDOW_MS = 500;

/** The beginning of a requested reading. */
export interface RequestStart {
  /** The readings that it will be compared with. */
  readonly before: Baseline;
  /** Keys that it is the next request's reading of; of others that is still the one before it. */
  readonly replaced: number;
}

/**
 * Keys are those of `keysOf` (needs.ts). Each kind of reading (for subscribers, for the slow demand, for requests) is
 * compared with the last one of its kind, so that none shortens the window of another, and otherwise with the newest of
 * any kind. All methods that read throw what the host throws.
 */
export class SampleReader {
  /** Interval of the ticks. */
  intervalMs: number;
  readonly #options: SampleReaderOptions;
  /** Readings of all kinds. */
  readonly #newest = new Readings();
  /** The last reading for subscribers, and nothing that it has not read; the same for the slow demand. */
  #tick = NO_BASELINE;
  #slow = NO_BASELINE;
  readonly #requested = new Readings();
  /** The readings that those were compared with. */
  #requestedBefore = NO_BASELINE;
  /** Time of the first reading of each key, until its probers have answered. */
  readonly #awaitedSinceMs = new Map<number, number>();
  /** Keys whose probers have answered once, or have had the time to. */
  #answered = 0;
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
   * Returns the sample of a tick. Values for subscribers cover the time since the previous tick, values for the slow
   * demand only the time since its last reading. `isWhole`: all of them cover some time, and no prober's first answer is
   * missing.
   */
  readTick({ demand, slow, ahead, nextInMs, nextTickInMs }: Tick): {
    readonly sample: Sample;
    readonly isWhole: boolean;
  } {
    const now = this.#options.clock.now();
    const ticked = demand ?? 0;
    const keys = unite(ticked, slow);
    const isOpen = this.#newest.knows(windowed(keys), now);
    const counters = this.#read(unite(keys, ahead), nextInMs);
    const newest = this.#newest.over(NO_BASELINE, keys, now);
    const before = withKeys(withKeys(newest, this.#slow, slow & ~ticked), this.#tick, ticked);
    const { sample, baseline } = this.#derive(keys, before, counters);
    if (demand !== undefined) this.#tick = withKeys(NO_BASELINE, baseline, demand);
    if (slow !== 0) this.#slow = withKeys(NO_BASELINE, baseline, slow);
    this.#newest.keep(keys, baseline, now);
    if (wantsProcesses(ticked)) this.#options.processes?.ask(counters, nextTickInMs, this.intervalMs);
    return { sample, isWhole: isOpen && this.#areAnswered(keys) };
  }

  endTicks(): void {
    this.#tick = NO_BASELINE;
  }

  /** Returns whether a reading of `keys` now has something to be compared with, and the answers of its probers. */
  isReady(keys: number): boolean {
    return this.#newest.knows(windowed(keys), this.#options.clock.now()) && this.#areAnswered(keys);
  }

  /** Returns how long a requested reading of `keys` has to wait for its probers and its windows. */
  windowMs(keys: number): number {
    return Math.max(0, ...bitsOf(windowed(keys)).map((key) => this.#windowMs(key)));
  }

  #windowMs(key: number): number {
    const now = this.#options.clock.now();
    if (this.#requested.knows(key, now)) return PROBE_WAIT_MS;
    return this.#newest.knows(key, now)
      ? Math.max(PROBE_WAIT_MS, FIRST_WINDOW_MS - this.#newest.ageMs(key, now))
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
   * `nextInMs`.
   */
  open(keys: number, waitMs: number, nextInMs: number): RequestStart {
    const opened = windowed(keys);
    if (opened === 0) return { before: NO_BASELINE, replaced: 0 };
    const now = this.#options.clock.now();
    const counters = this.#read(opened, nextInMs);
    if (wantsProcesses(opened)) this.#options.processes?.ask(counters, waitMs, this.intervalMs);
    const fresh = advanceBaseline(NO_BASELINE, counters, needsOf(opened).withDetail);
    const known = this.#requested.over(this.#newest.over(fresh, opened, now), opened, now);
    const young = keysThat(opened, (key) => this.#requested.ageMs(key, now) < WINDOW_MS);
    return { before: withKeys(known, this.#requestedBefore, young), replaced: opened & ~young };
  }

  /** Takes the second one. */
  readRequest(keys: number, { before, replaced }: RequestStart, nextInMs: number): Sample {
    const counters = this.#read(keys, nextInMs);
    const { sample, baseline } = this.#derive(keys, before, counters);
    const now = this.#options.clock.now();
    this.#requestedBefore = withKeys(this.#requestedBefore, before, replaced);
    this.#requested.keep(replaced, baseline, now);
    this.#newest.keep(keys, baseline, now);
    return sample;
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
}
