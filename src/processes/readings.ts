/** Owns the readings of processes: those picked up by samples, and those taken for a list. */
import type { Clock } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import type { ProcessColumns, ProcessHost } from '../host/processes.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceWindow, deriveProcessSummary, type ProcessWindow } from './shares.ts';

export interface ProcessReadingsOptions {
  readonly host: ProcessHost;
  readonly clock: Clock;
  readonly config: CurrentConfig;
}

/** Maximum age of a reading that answers for a list. */
const FRESH_MS = 1000;
/** Maximum length of a window for a list… */
const MAX_WINDOW_MS = 10_000;
/** …and the time to the second reading where there is no recent first one. */
const FIRST_WINDOW_MS = 200;

const NS_PER_MS = 1e6;

interface CachedWindow {
  readonly window: ProcessWindow;
  /** Of the clock that counts suspended time: processes from before a sleep are not fresh after it. */
  readonly sinceBootMs: number;
}

export class ProcessReadings {
  readonly #options: ProcessReadingsOptions;
  #picked: ProcessWindow | undefined;
  #cached: CachedWindow | undefined;
  #pending: Promise<ProcessWindow> | undefined;

  constructor(options: ProcessReadingsOptions) {
    this.#options = options;
  }

  /**
   * The part of a detailed sample; null until there is a first reading, undefined while `features.enable_processes` is
   * off. The next sample is expected in `nextInMs`, and usually `intervalMs` apart. Never waits.
   */
  summary(nextInMs: number, intervalMs: number): ProcessSummary | null | undefined {
    if (!this.#options.config.current.features.enable_processes) return undefined;
    const columns = this.#options.host.latest(nextInMs);
    if (columns === null) return null;
    const maxMs = Math.max(MAX_WINDOW_MS, 2 * intervalMs);
    this.#picked = advanceWindow(this.#picked, columns, maxMs * NS_PER_MS);
    return deriveProcessSummary(this.#picked);
  }

  /** A window that ends less than a second ago. Rejects with the system's Error. */
  async window(): Promise<ProcessWindow> {
    const { clock } = this.#options;
    const cached = this.#cached;
    // The first of two readings is fresh too, but there is nothing to compare it with until the second.
    if (
      this.#pending === undefined &&
      cached !== undefined &&
      clock.sinceBoot() - cached.sinceBootMs < FRESH_MS
    )
      return cached.window;
    this.#pending ??= this.#take().finally(() => {
      this.#pending = undefined;
    });
    return await this.#pending;
  }

  async #take(): Promise<ProcessWindow> {
    const { host, clock } = this.#options;
    const first = this.#keep(await host.read());
    if (first.before !== undefined) return first;
    await new Promise<void>((resolve) => clock.setTimer(resolve, FIRST_WINDOW_MS));
    return this.#keep(await host.read());
  }

  #keep(columns: ProcessColumns): ProcessWindow {
    const window = advanceWindow(this.#cached?.window, columns, MAX_WINDOW_MS * NS_PER_MS);
    this.#cached = { window, sinceBootMs: this.#options.clock.sinceBoot() };
    return window;
  }
}
