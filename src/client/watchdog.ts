/**
 * Notices that nothing comes any more. It counts ticks instead of reading a clock: after the computer was asleep, or a
 * browser held the page's timers back, one late tick says little, and what has come meanwhile is seen before the next.
 */
import type { Environment } from './environment.ts';

/** So many whole ticks without a byte and the peer is gone: with 15 s each, after more than 45 s and within 60. */
export const MOST_SILENT_TICKS = 3;

export class Watchdog {
  readonly #environment: Environment;
  readonly #onTick: (ticks: number) => void;
  #silentTicks = 0;
  #timer: unknown;

  /** Runs at once; `onTick` is told how many whole ticks in a row nothing has come. */
  constructor(environment: Environment, onTick: (ticks: number) => void) {
    this.#environment = environment;
    this.#onTick = onTick;
    this.#arm();
  }

  heard(): void {
    this.#silentTicks = 0;
  }

  stop(): void {
    this.#environment.clearTimer(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#environment.setTimer(() => {
      this.#arm();
      // The tick in which something came was not silent throughout.
      this.#onTick(this.#silentTicks++);
    }, this.#environment.timing.tickMs);
  }
}
