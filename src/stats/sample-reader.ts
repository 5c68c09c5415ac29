/** Reads the host, and keeps what the next reading is compared with. */
import type { Clock } from '../clock.ts';
import { type Counters, type Host, SECTION_BITS } from '../host/host.ts';
import type { Log } from '../log/log.ts';
import type { ProcessSummary } from '../wire/process.ts';
import type { SampleFacts } from './detail-row.ts';
import { failedParts } from './details.ts';
import { Failures } from './failures.ts';
import { bitsOf, covers, detailKey, keyOfDetail, needsOf, wantsProcesses, windowed } from './needs.ts';
import {
  advanceBaseline,
  type Baseline,
  type BaselineField,
  deriveSample,
  mergeBaselines,
  NO_BASELINE,
  type Sample,
} from './sample.ts';

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

const KEY_OF: Readonly<Record<BaselineField, number>> = {
  cpu: SECTION_BITS.cpu,
  cores: detailKey(SECTION_BITS.cpu),
  energy: detailKey(SECTION_BITS.cpu),
  disks: detailKey(SECTION_BITS.disks),
  network: SECTION_BITS.network,
  // The only detail that is a rate.
  details: keyOfDetail('limits'),
};

/** Keys are those of `keysOf` (needs.ts). All but `windowMs` throw what the host throws. */
export class SampleReader {
  /** Of the ticks; older readings than two of them are not recent. */
  intervalMs: number;
  readonly #options: SampleReaderOptions;
  #baseline: Baseline = NO_BASELINE;
  /** When each key was last read into the baseline. */
  readonly #readAtMs = new Map<number, number>();
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

  /** The sample of a tick, over the time since the tick before; the next one comes in `nextInMs`. */
  readTick(keys: number, nextInMs: number): Sample {
    const counters = this.#read(keys, nextInMs);
    const sample = this.#derive(keys, this.#baseline, counters, keys);
    if (wantsProcesses(keys)) this.#options.processes?.ask(counters, nextInMs, this.intervalMs);
    return sample;
  }

  /** How long a requested reading of `keys` has to wait for its probers and its windows. */
  windowMs(keys: number): number {
    const ages = bitsOf(windowed(keys)).map((key) => this.#ageOf(key));
    if (ages.length === 0) return 0;
    const isFirst = Math.max(...ages) > 2 * this.intervalMs;
    return isFirst ? FIRST_WINDOW_MS : Math.max(PROBE_WAIT_MS, FIRST_WINDOW_MS - Math.min(...ages));
  }

  /**
   * The first of the two readings of a request: asks the probers, and begins the windows of `keys` that have none.
   * Returns `start` with what `keys` will be compared with.
   */
  open(keys: number, waitMs: number, start: Baseline): Baseline {
    const opened = windowed(keys);
    if (opened === 0) return start;
    const counters = this.#read(opened, waitMs);
    if (wantsProcesses(opened)) this.#options.processes?.ask(counters, waitMs, this.intervalMs);
    const fresh = advanceBaseline(this.#baseline, counters, needsOf(opened).withDetail);
    const known = mergeBaselines(this.#baseline, fresh, (field) => !this.#isRecent(KEY_OF[field]));
    return mergeBaselines(start, known, (field) => covers(opened, KEY_OF[field]));
  }

  /**
   * The second one. While ticks own the baseline only what they do not read is kept of it: a request between two ticks
   * must not shorten their window.
   */
  readRequest(keys: number, start: Baseline, nextInMs: number, ticksOwn: boolean): Sample {
    const counters = this.#read(keys, nextInMs);
    const kept = bitsOf(keys).filter((key) => !ticksOwn || !this.#isRecent(key));
    const keptKeys = kept.reduce((all, key) => all | key, 0);
    return this.#derive(keys, { ...start, totals: this.#baseline.totals }, counters, keptKeys);
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

  #derive(keys: number, before: Baseline, counters: Counters, kept: number): Sample {
    const { sample, baseline } = deriveSample(before, counters, this.#factsFor(keys, counters));
    this.#baseline = mergeBaselines(this.#baseline, baseline, (field) => covers(kept, KEY_OF[field]));
    const now = this.#options.clock.now();
    for (const key of bitsOf(kept)) this.#readAtMs.set(key, now);
    return sample;
  }

  #factsFor(keys: number, counters: Counters): SampleFacts | undefined {
    if (!needsOf(keys).withDetail) return undefined;
    const { hostname, processes } = this.#options;
    const facts = { interval_seconds: this.intervalMs / 1000, host: hostname };
    const summary = wantsProcesses(keys) ? processes?.summary(counters, this.intervalMs) : undefined;
    return summary === undefined ? facts : { ...facts, processes: summary };
  }

  #ageOf(key: number): number {
    return this.#options.clock.now() - (this.#readAtMs.get(key) ?? Number.NEGATIVE_INFINITY);
  }

  #isRecent(key: number): boolean {
    return this.#ageOf(key) <= 2 * this.intervalMs;
  }
}
