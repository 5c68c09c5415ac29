/**
 * Detects a silent connection. It counts ticks instead of reading a clock: after a suspend, or when a browser delayed
 * the page's timers, a single late tick means little, and bytes that arrived before it are processed before the next.
 */
import type { Environment } from './environment.ts';

/** Whole ticks without a byte after which the peer counts as gone: with 15 s per tick, after 45 to 60 s. */
export const MAX_SILENT_TICKS = 3;

export class Watchdog {
  readonly #environment: Environment;
  readonly #onTick: (ticks: number) => void;
  #silentTicks = 0;
  #timer: unknown;

  /** Starts immediately; `onTick` receives the number of whole ticks in a row in which nothing arrived. */
  constructor(environment: Environment, onTick: (ticks: number) => void) {
    this.#environment = environment;
    this.#onTick = onTick;
    this.#arm();
  }

  /** Something arrived. */
  reset(): void {
    this.#silentTicks = 0;
  }

  stop(): void {
    this.#environment.clearTimer(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#environment.setTimer(() => {
      this.#arm();
      // The tick in which something arrived was not wholly silent.
      this.#onTick(this.#silentTicks++);
    }, this.#environment.timing.tickMs);
  }
}
