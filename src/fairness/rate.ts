/** Limits how often something happens: a rate, and a burst after a rest. */
import { type RateLimit, REMEMBERED } from './limits.ts';
import { levelsOf, limitOf, networkOf } from './networks.ts';

/** The units that one holder has left. */
export class Bucket {
  readonly #limit: RateLimit;
  #left: number;
  #atMs: number;

  /** `nowMs`: monotonic milliseconds, as in each call. */
  constructor(limit: RateLimit, nowMs: number) {
    this.#limit = limit;
    this.#left = limit.burst;
    this.#atMs = nowMs;
  }

  /** Takes `units`, and returns how many are left. Below 0 the rate is exceeded, by that many. */
  take(units: number, nowMs: number): number {
    const { perSecond, burst } = this.#limit;
    const gained = ((nowMs - this.#atMs) * perSecond) / 1000;
    // A grant may exceed the burst; nothing is added to it then.
    this.#left = Math.max(this.#left, Math.min(burst, this.#left + gained)) - units;
    this.#atMs = nowMs;
    return this.#left;
  }

  /** Takes one unit if there is one; returns whether there was. */
  takeOne(nowMs: number): boolean {
    const isLeft = this.take(0, nowMs) >= 1;
    if (isLeft) this.#left--;
    return isLeft;
  }

  /** Adds `units`, beyond the burst too, but no more than `max` in all. */
  grant(units: number, max: number): void {
    this.#left = Math.max(this.#left, Math.min(max, this.#left + units));
  }
}

/** The same rate for each address, or each other key; a /64 network may have a multiple of it. */
export class Rate {
  readonly #limit: RateLimit;
  /** Ordered by the last use, the oldest first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Counts once for `key`; false beyond its rate, or that of its network. What is refused is not counted. */
  take(key: string, nowMs: number): boolean {
    const levels = this.#limit.per === 'network' ? [networkOf(key)] : levelsOf(key);
    const buckets = levels.map((level) => this.#bucketOf(level, nowMs));
    const isWithin = buckets.every((bucket) => bucket.take(0, nowMs) >= 1);
    if (isWithin) for (const bucket of buckets) bucket.take(1, nowMs);
    return isWithin;
  }

  #bucketOf(level: string, nowMs: number): Bucket {
    const { perSecond, burst, per } = this.#limit;
    const shared = { perSecond: limitOf(level, perSecond), burst: limitOf(level, burst) };
    const bucket = this.#buckets.get(level) ?? new Bucket(per === 'network' ? this.#limit : shared, nowMs);
    this.#buckets.delete(level);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size >= REMEMBERED.ratedKeys && oldest !== undefined) this.#buckets.delete(oldest);
    this.#buckets.set(level, bucket);
    return bucket;
  }
}
