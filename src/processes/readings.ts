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

/** Of more processes a summary takes milliseconds: it is derived in a turn of its own, not with the rest of a sample. */
const MANY_PROCESSES = 4000;

/** Maximum length of a window for a list… */
const MAX_WINDOW_MS = 10_000;
/** …and the time to the second reading where there is no recent first one. */
const FIRST_WINDOW_MS = 200;

/** A reading for a sample begins this much before it: 10,000 processes take 100 ms and more. */
const LEAD_MS = 250;
/** Readings for samples take at most this part of a processor's time. */
const MAX_SHARE = 0.01;
/** Maximum time that requests between ticks share one reading, where readings are cheap. */
const MAX_SHARED_MS = 10_000;
/** An interval between two ticks may be this much shorter than another. */
const LEEWAY_MS = 20;

const NS_PER_MS = 1e6;
const NS_PER_SECOND = 1e9;

/** The processes of a detailed sample, and what they were derived from. */
interface DerivedSummary {
  readonly window: ProcessWindow;
  readonly summary: ReturnType<typeof deriveProcessSummary>;
}

interface CachedWindow {
  readonly window: ProcessWindow;
  /** Of the clock that counts suspended time: processes from before a sleep are not fresh after it. */
  readonly askedAtMs: number;
}

export class ProcessReadings {
  readonly #options: ProcessReadingsOptions;
  #picked: ProcessWindow | undefined;
  /** Of `#picked`, or of the reading before while that is being derived. */
  #derived: DerivedSummary | undefined;
  #isDeferred = false;
  /** When the last reading that was asked for was to begin, on the clock of `Counters.sinceBootNs`. */
  #askedForNs = Number.NEGATIVE_INFINITY;
  #cached: CachedWindow | undefined;
  #pending: Promise<ProcessWindow> | undefined;
  #reading: Promise<ProcessWindow> | undefined;

  constructor(options: ProcessReadingsOptions) {
    this.#options = options;
  }

  /**
   * Asks for a reading that is there in `inMs`. Not if that would be the second one within an interval, or if all of
   * them would take more than 1 % of a processor. Never waits.
   */
  ask({ sinceBootNs }: Pick<Counters, 'sinceBootNs'>, inMs: number, intervalMs: number): void {
    if (!this.#options.config.current.features.enable_processes) return;
    const known = this.#pick(intervalMs)?.after;
    const delayMs = Math.max(0, inMs - LEAD_MS);
    const beginNs = sinceBootNs + delayMs * NS_PER_MS;
    // One that has not begun yet is replaced.
    const hasBegun = this.#askedForNs <= sinceBootNs;
    const lastNs = hasBegun ? this.#askedForNs : (known?.sinceBootNs ?? Number.NEGATIVE_INFINITY);
    if (beginNs - lastNs < paceMs(known, intervalMs) * NS_PER_MS) return;
    this.#askedForNs = beginNs;
    this.#options.host.ask(delayMs);
  }

  /**
   * Asks for a reading now that has what processes read from and write to disks, at the pace of all others. One that a
   * sample has asked for and that begins first has it instead. Never waits.
   */
  askWithDisks(now: Pick<Counters, 'sinceBootNs'>, intervalMs: number): void {
    if (!this.#options.config.current.features.enable_processes) return;
    this.#options.host.includeDisks();
    this.ask(now, 0, intervalMs);
  }

  /** The last reading that was asked for; null while there is none. Never waits. */
  get latest(): ProcessColumns | null {
    return this.#options.host.latest();
  }

  /**
   * The part of a detailed sample; null while there is no recent reading, undefined while `features.enable_processes`
   * is off. Never waits.
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

  /** The summary of `window`; of the recent one before where deriving it takes a turn of its own. */
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

  /** The window that ends with the last reading of the process thread. */
  #pick(intervalMs: number): ProcessWindow | undefined {
    const columns = this.#options.host.latest();
    if (columns === null) return undefined;
    this.#picked = advanceWindow(this.#picked, columns, maxAgeMs(columns, intervalMs) * NS_PER_MS);
    return this.#picked;
  }

  /** A window that ends less than 0.9 s ago. Rejects with the system's Error. */
  async window(): Promise<ProcessWindow> {
    const fresh = this.#fresh();
    // The first of two readings is fresh too, but there is nothing to compare it with until the second.
    if (this.#pending === undefined && fresh?.before !== undefined) return fresh;
    this.#pending ??= this.#take().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  /** A reading of less than 0.9 s ago, for those who compare it with nothing. Rejects with the system's Error. */
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

  /** One reading at a time: whoever asks meanwhile gets that one. */
  #read(askedAtMs = this.#options.clock.sinceBoot()): Promise<ProcessWindow> {
    this.#reading ??= this.#options.host
      .read()
      .then((columns) => this.#keep(columns, askedAtMs))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #keep(columns: ProcessColumns, askedAtMs: number): ProcessWindow {
    const window = advanceWindow(this.#cached?.window, columns, MAX_WINDOW_MS * NS_PER_MS);
    this.#cached = { window, askedAtMs };
    return window;
  }
}

/** The least time between the beginnings of two readings for samples. */
function paceMs(known: ProcessColumns | undefined, intervalMs: number): number {
  const spentMs = (known?.spentNs ?? 0) / NS_PER_MS;
  return Math.max(Math.min(intervalMs, MAX_SHARED_MS) - LEEWAY_MS, spentMs / MAX_SHARE);
}

/** The age from which on a reading is not shown, and is no beginning of a window. */
const maxAgeMs = (columns: ProcessColumns, intervalMs: number) =>
  Math.max(MAX_WINDOW_MS, 2 * intervalMs, 2 * paceMs(columns, intervalMs));
