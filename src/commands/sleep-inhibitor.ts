/** Holds up each sleep and shutdown of the machine while there is a connection whose other side must learn of it first. */
import type { SleepDelays } from './power-backend.ts';

/** Shown in the list of inhibitors. */
const WHY_DELAYED = 'reports that this machine is away';

export class SleepInhibitor {
  readonly #delays: SleepDelays;
  readonly #holders = new Set<object>();

  constructor(delays: SleepDelays) {
    this.#delays = delays;
  }

  hold(holder: object): void {
    this.#holders.add(holder);
    void this.#delays.delaySleep?.(WHY_DELAYED);
  }

  /** Lets the machine shut down, which all but hubs learn from the end of the service; or holds it up again. */
  rest(isResting: boolean): void {
    if (isResting) this.#delays.allowSleep?.();
    else if (this.#holders.size > 0) void this.#delays.delaySleep?.(WHY_DELAYED);
  }

  /** The last one lets the machine sleep. */
  release(holder: object): void {
    this.#holders.delete(holder);
    if (this.#holders.size === 0) this.#delays.allowSleep?.();
  }
}
