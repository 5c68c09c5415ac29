/** How often a client address may do something that is not counted otherwise. */
export class Pace {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #counts = new Map<string, number>();
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
      this.#counts = new Map();
      this.#endsAt = now + this.#windowMs;
    }
    const count = (this.#counts.get(address) ?? 0) + 1;
    this.#counts.set(address, count);
    return count <= this.#limit;
  }
}
