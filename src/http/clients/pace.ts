/** How often a client address may do something that is not counted otherwise. */
import { canonicalPeer } from '../../access/addresses.ts';
import { AddressCounts } from '../../fairness/address-counts.ts';

export class Pace {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #counts = new AddressCounts();
  #endsAt = Number.NEGATIVE_INFINITY;

  /** `limit` times within each window of `windowMs`; `now`: monotonic milliseconds. */
  constructor(limit: number, windowMs: number, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#now = now;
  }

  /** Counts once; false beyond the limit of `address`, or of its /64 network. */
  take(address: string): boolean {
    const now = this.#now();
    if (now >= this.#endsAt) {
      this.#counts = new AddressCounts();
      this.#endsAt = now + this.#windowMs;
    }
    const client = canonicalPeer(address);
    const isWithin = this.#counts.hasCapacity(client, this.#limit);
    if (isWithin) this.#counts.add(client);
    return isWithin;
  }
}
