/** Limits how much another side may cause: a rate, and a burst after a rest. */

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export class Allowance {
  readonly #rate: Rate;
  #left: number;
  #atMs: number;

  /** `nowMs`: monotonic milliseconds, as in each call. */
  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#atMs = nowMs;
  }

  /** Takes `units`, and returns how many are left. Below 0 the rate is exceeded, by that many. */
  take(units: number, nowMs: number): number {
    const { perSecond, burst } = this.#rate;
    const gained = ((nowMs - this.#atMs) * perSecond) / 1000;
    // A grant may exceed the burst; nothing is added to it then.
    this.#left = Math.max(this.#left, Math.min(burst, this.#left + gained)) - units;
    this.#atMs = nowMs;
    return this.#left;
  }

  /** Adds `units`, beyond the burst too, but no more than `max` in all. */
  grant(units: number, max: number): void {
    this.#left = Math.max(this.#left, Math.min(max, this.#left + units));
  }
}
