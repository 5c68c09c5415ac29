/** Owns the readings of processes: the ones that samples pick up, and those that are taken for a list. */
import type { Clock } from '../clock.ts';
import type { ProcessColumns, ProcessHost } from '../host/processes.ts';
import type { ProcessSummary } from '../wire/process.ts';
import { advanceWindow, deriveProcessSummary, type ProcessWindow } from './shares.ts';

export interface ProcessReadingsOptions {
  readonly host: ProcessHost;
  readonly clock: Clock;
}

/** A reading this young answers for a list. */
const FRESH_MS = 1000;
/** An older one is no beginning of a window for a list… */
const MOST_WINDOW_MS = 10_000;
/** …which then takes a second one so long after. */
const FIRST_WINDOW_MS = 200;

const NS_PER_MS = 1e6;

interface Taken {
  readonly window: ProcessWindow;
  readonly atMs: number;
}

export class ProcessReadings {
  readonly #options: ProcessReadingsOptions;
  #picked: ProcessWindow | undefined;
  #taken: Taken | undefined;
  #pending: Promise<ProcessWindow> | undefined;

  constructor(options: ProcessReadingsOptions) {
    this.#options = options;
  }

  /**
   * What a detailed sample shows; null until there is a first reading. The next one is expected in `nextInMs`, and
   * usually `intervalMs` apart. Never waits.
   */
  summary(nextInMs: number, intervalMs: number): ProcessSummary | null {
    const columns = this.#options.host.latest(nextInMs);
    if (columns === null) return null;
    const mostMs = Math.max(MOST_WINDOW_MS, 2 * intervalMs);
    this.#picked = advanceWindow(this.#picked, columns, mostMs * NS_PER_MS);
    return deriveProcessSummary(this.#picked);
  }

  /** A window that ends less than a second ago. Rejects with the system's Error. */
  async window(): Promise<ProcessWindow> {
    const { clock } = this.#options;
    if (this.#taken !== undefined && clock.now() - this.#taken.atMs < FRESH_MS) return this.#taken.window;
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
    const window = advanceWindow(this.#taken?.window, columns, MOST_WINDOW_MS * NS_PER_MS);
    this.#taken = { window, atMs: this.#options.clock.now() };
    return window;
  }
}
