/** The time until the next attempt to reach the broker. */

const FIRST_MS = 1000;
const LAST_MS = 60_000;
/** The last wait where viewers wait for the end of an outage, 5 s at most. */
export const VIEWERS_LAST_MS = 4000;
/** A connection that ended sooner counts as half an attempt: two clients with one id end each other's for ever. */
const STABLE_MS = 10_000;
/** After it the wait is 2 to 4 seconds. */
const UNSTABLE_ATTEMPTS = 2;
/** Least wait after an attempt that took long itself. */
const LEAST_MS = 500;

export class Backoff {
  readonly #random: () => number;
  readonly #maxMs: number;
  #attempts = 0;

  /** `random`: from 0 to 1. */
  constructor(random: () => number, maxMs = LAST_MS) {
    this.#random = random;
    this.#maxMs = maxMs;
  }

  /**
   * `lastedMs`: how long there was a connection; undefined: there was none. `spentMs`: what an attempt without one took, which
   * counts: the waits are from one attempt to the next.
   */
  next(lastedMs: number | undefined, spentMs = 0): number {
    if (lastedMs !== undefined)
      this.#attempts = lastedMs >= STABLE_MS ? 0 : Math.min(this.#attempts, UNSTABLE_ATTEMPTS);
    const limitMs = Math.min(this.#maxMs, FIRST_MS * 2 ** this.#attempts);
    this.#attempts++;
    // At least half of it, and not for all clients of a broker in the same moment.
    const waitMs = limitMs * (0.5 + this.#random() / 2);
    return lastedMs === undefined ? Math.max(LEAST_MS, waitMs - spentMs) : waitMs;
  }

  reset(): void {
    this.#attempts = 0;
  }
}
