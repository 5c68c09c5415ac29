/** Divides a limit of all clients, so that neither one address nor the clients without the key can use it up. */
import { AddressCounts, networkOf } from './address-counts.ts';

interface Sharer {
  readonly address: string;
  /** It sent the key: only the limit in all applies. */
  readonly isKeyed: boolean;
}

/** Shares of the limit: for one address without the key, for its /64 network, and for all clients without the key. */
const ADDRESS_SHARE = 1 / 4;
const NETWORK_SHARE = 1 / 2;
const KEYLESS_SHARE = 3 / 4;

export class SharedCapacity {
  readonly #max: number;
  #size = 0;
  readonly #keyless = new AddressCounts();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether this client may have one more. */
  hasCapacity({ address, isKeyed }: Sharer): boolean {
    if (this.#size >= this.#max) return false;
    const isWithin = (count: number, share: number) => count < Math.ceil(this.#max * share);
    return (
      isKeyed ||
      (isWithin(this.#keyless.total, KEYLESS_SHARE) &&
        isWithin(this.#keyless.of(address), ADDRESS_SHARE) &&
        isWithin(this.#keyless.of(networkOf(address)), NETWORK_SHARE))
    );
  }

  add({ address, isKeyed }: Sharer): void {
    this.#size++;
    if (!isKeyed) this.#keyless.add(address);
  }

  remove({ address, isKeyed }: Sharer): void {
    this.#size--;
    if (!isKeyed) this.#keyless.remove(address);
  }
}
