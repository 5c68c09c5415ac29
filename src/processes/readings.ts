/** Owns the readings of processes: those picked up by samples, and those taken for a list. */
import { type Clock, type Defer, deferToNextTurn } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import type { Counters } from '../host/host.ts';
import type { ProcessColumns, ProcessHost } from '../host/processes.ts';
import { FRESH_MS } from '../stats/freshness.ts';
import { oneDecimal } from '../stats/round.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceWindow, deriveProcessSummary, type ProcessWindow } from './shares.ts';

export interface ProcessReadingsOptions {
  readonly host: ProcessHost;
  readonly clock: Clock;
  readonly config: CurrentConfig;
  /** For tests. */
  readonly defer?: Defer;
}

/** Number of processes from which a summary takes milliseconds, so it is derived in a turn of its own. */
const MANY_PROCESSES = 4000;

/** Maximum length of a window for a list… */
const WINDOW_MS = 10_000;
/** …and the time to the second reading without a recent first one. */
const FIRST_WINDOW_MS = 200;

/** Time before a sample at which its reading begins: 10,000 processes take 100 ms and more. */
const LEAD_MS = 250;
/** Maximum share of a processor's time for readings of samples. */
const MAX_SHARE = 0.01;
/** Maximum time that requests between ticks share one reading, where readings are cheap. */
const SHARED_MS = 10_000;
/** An interval between two ticks may be this much shorter than another. */
const LEEWAY_MS = 20;

const NS_PER_MS = 1e6;
const NS_PER_SECOND = 1e9;

/** The processes of a detailed sample, and the readings they were derived from. */
interface DerivedSummary {
  readonly window: ProcessWindow;
  readonly summary: ReturnType<typeof deriveProcessSummary>;
}

interface CachedWindow {
  readonly window: ProcessWindow;
  /** By the clock that counts suspended time: processes from before a sleep are not fresh after it. */
  readonly askedAtMs: number;
}

export class ProcessReadings {
  readonly #options: ProcessReadingsOptions;
  #picked: ProcessWindow | undefined;
  /** Summary of `#picked`, or of the previous reading while that is being derived. */
  #derived: DerivedSummary | undefined;
  #isDeferred = false;
  /** Requested start of the last reading, on the clock of `Counters.sinceBootNs`. */
  #askedForNs = Number.NEGATIVE_INFINITY;
  #cached: CachedWindow | undefined;
  #pending: Promise<ProcessWindow> | undefined;
  #reading: Promise<ProcessWindow> | undefined;
  /** Time until which readings for lists include disk I/O, which is compared with that of the previous reading. */
  #disksUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: ProcessReadingsOptions) {
    this.#options = options;
  }

  /**
   * Requests a reading that is available in `inMs`, unless it would be the second one within an interval, or all of
   * them would take more than 1 % of a processor. Never waits.
   */
  ask({ sinceBootNs }: Pick<Counters, 'sinceBootNs'>, inMs: number, intervalMs: number): void {
    if (!this.#options.config.current.features.enable_processes) return;
    const known = this.#pick(intervalMs)?.after;
    const delayMs = Math.max(0, inMs - LEAD_MS);
    const beginNs = sinceBootNs + delayMs * NS_PER_MS;
    // A reading that has not begun yet is replaced.
    const hasBegun = this.#askedForNs <= sinceBootNs;
    const lastNs = hasBegun ? this.#askedForNs : (known?.sinceBootNs ?? Number.NEGATIVE_INFINITY);
    if (beginNs - lastNs < paceMs(known, intervalMs) * NS_PER_MS) return;
    this.#askedForNs = beginNs;
    this.#options.host.ask(delayMs);
  }

  /**
   * Requests a reading now that includes disk I/O, at the pace of all others. A reading that a sample has requested and
   * that begins earlier includes it instead. Never waits.
   */
  askWithDisks(now: Pick<Counters, 'sinceBootNs'>, intervalMs: number): void {
    if (!this.#options.config.current.features.enable_processes) return;
    this.#options.host.includeDisks();
    this.ask(now, 0, intervalMs);
  }

  /** Returns the last requested reading; null before the first one. Never waits. */
  get latest(): ProcessColumns | null {
    return this.#options.host.latest();
  }

  /**
   * Returns the part of a detailed sample; null while there was no recent reading, undefined while
   * `features.enable_processes` is off. Never waits.
   */
  summary(
    { sinceBootNs }: Pick<Counters, 'sinceBootNs'>,
    intervalMs: number,
  ): ProcessSummary | null | undefined {
    if (!this.#options.config.current.features.enable_processes) return undefined;
    const window = this.#pick(intervalMs);
    if (window === undefined) return null;
    const ageNsOf = ({ after }: ProcessWindow) => Math.max(0, sinceBootNs - after.sinceBootNs);
    const isRecent = (known: ProcessWindow) =>
      ageNsOf(known) <= maxAgeMs(known.after, intervalMs) * NS_PER_MS;
    if (!isRecent(window)) return null;
    const { summary, window: shown } = this.#summaryOf(window, isRecent);
    return { ...summary, age_seconds: oneDecimal(ageNsOf(shown) / NS_PER_SECOND) };
  }

  /** Returns the summary of `window`; of the previous recent one if deriving it takes a turn of its own. */
  #summaryOf(window: ProcessWindow, isRecent: (known: ProcessWindow) => boolean): DerivedSummary {
    const derived = this.#derived;
    if (derived?.window === window) return derived;
    if (derived !== undefined && window.after.pids.length > MANY_PROCESSES && isRecent(derived.window)) {
      this.#deriveLater();
      return derived;
    }
    return this.#derive(window);
  }

  #derive(window: ProcessWindow): DerivedSummary {
    this.#derived = { window, summary: deriveProcessSummary(window) };
    return this.#derived;
  }

  #deriveLater(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    const { defer = deferToNextTurn } = this.#options;
    defer(() => {
      this.#isDeferred = false;
      if (this.#picked !== undefined) this.#derive(this.#picked);
    });
  }

  /** Returns the window that ends with the last reading of the process thread. */
  #pick(intervalMs: number): ProcessWindow | undefined {
    const columns = this.#options.host.latest();
    if (columns === null) return undefined;
    this.#picked = advanceWindow(this.#picked, columns, maxAgeMs(columns, intervalMs) * NS_PER_MS);
    return this.#picked;
  }

  /**
   * Returns a window that ends less than 0.9 s ago; `withDisks`: whose readings include disk I/O, unless they had begun
   * before it was wanted. Rejects with the system's Error.
   */
  async window(withDisks = false): Promise<ProcessWindow> {
    if (withDisks) {
      const nowMs = this.#options.clock.sinceBoot();
      // Nothing in the earlier readings can be compared.
      if (nowMs >= this.#disksUntilMs) this.#cached = undefined;
      this.#disksUntilMs = nowMs + WINDOW_MS;
    }
    const fresh = this.#fresh();
    // The first of two readings is fresh too, but it can only be compared once the second has arrived.
    if (this.#pending === undefined && fresh?.before !== undefined) return fresh;
    this.#pending ??= this.#take().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  /** Returns a reading of less than 0.9 s ago, for callers that do not compare it. Rejects with the system's Error. */
  async columns(): Promise<ProcessColumns> {
    return (this.#fresh() ?? (await this.#read())).after;
  }

  #fresh(): ProcessWindow | undefined {
    const cached = this.#cached;
    return cached !== undefined && this.#options.clock.sinceBoot() - cached.askedAtMs < FRESH_MS
      ? cached.window
      : undefined;
  }

  async #take(): Promise<ProcessWindow> {
    const askedAtMs = this.#options.clock.sinceBoot();
    const first = this.#fresh() ?? (await this.#read());
    if (first.before !== undefined) return first;
    await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, FIRST_WINDOW_MS));
    return await this.#read(askedAtMs);
  }

  /** One reading at a time: callers that ask during a reading get that one. */
  #read(askedAtMs = this.#options.clock.sinceBoot()): Promise<ProcessWindow> {
    this.#reading ??= this.#options.host
      .read(this.#options.clock.sinceBoot() < this.#disksUntilMs)
      .then((columns) => this.#keep(columns, askedAtMs))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #keep(columns: ProcessColumns, askedAtMs: number): ProcessWindow {
    const window = advanceWindow(this.#cached?.window, columns, WINDOW_MS * NS_PER_MS);
    this.#cached = { window, askedAtMs };
    return window;
  }
}

/** Returns the minimum time between the starts of two readings for samples. */
function paceMs(known: ProcessColumns | undefined, intervalMs: number): number {
  const spentMs = (known?.spentNs ?? 0) / NS_PER_MS;
  return Math.max(Math.min(intervalMs, SHARED_MS) - LEEWAY_MS, spentMs / MAX_SHARE);
}

/** Returns the age from which a reading is not shown, and cannot be the start of a window. */
const maxAgeMs = (columns: ProcessColumns, intervalMs: number) =>
  Math.max(WINDOW_MS, 2 * intervalMs, 2 * paceMs(columns, intervalMs));
