/** How often a client address may do something that is not counted otherwise. */
import { Tally } from './tally.ts';

export class Pace {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #counts = new Tally();
  #endsAt = Number.NEGATIVE_INFINITY;

  /** `limit` times within each window of `windowMs`; `now`: monotonic milliseconds. */
  constructor(limit: number, windowMs: number, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Counts once; false beyond the limit. */
  take(address: string): boolean {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#counts = new Tally();
      this.#endsAt = now + this.#windowMs;
    }
    return this.#counts.add(address) <= this.#limit;
  }
}
