/** Limits how many of something there are at a time, so that neither one address nor the clients without the key use it up. */
import { NETWORK_FACTOR, networkOf } from './networks.ts';

export interface Sharer {
  readonly address: string;
  /** It sent the key: only the limit in all applies. */
  readonly isKeyed: boolean;
}

/** Maximum numbers of places; all but the first are for clients without the key. Infinity: no limit. */
export interface PlaceLimits {
  readonly inAll: number;
  readonly keyless: number;
  /** For one IPv4 address, or one /64 network of IPv6. */
  readonly perNetwork: number;
  readonly perAddress: number;
}

/** The shares of a limit that is small, and the same for all clients. */
export function sharesOf(inAll: number): () => PlaceLimits {
  const part = (share: number) => Math.ceil(inAll * share);
  const limits = { inAll, keyless: part(3 / 4), perNetwork: part(1 / 2), perAddress: part(1 / 4) };
  return () => limits;
}

/** One address leaves a quarter to others where there are this many places; with fewer one client may need all of them. */
const MIN_SHARED = 64;

/** The limits where one address may have `perAddress` places, and its network a multiple of that; 0: any number. */
export function limitsPerAddress(inAll: number, perAddress: number, keyless = inAll): PlaceLimits {
  const own = perAddress === 0 ? Number.POSITIVE_INFINITY : perAddress;
  const isShared = perAddress > 0 && inAll >= MIN_SHARED;
  const shared = isShared ? Math.ceil((inAll * 3) / 4) : Number.POSITIVE_INFINITY;
  return { inAll, keyless, perNetwork: Math.min(own * NETWORK_FACTOR, shared), perAddress: own };
}

export class Places {
  readonly #limits: () => PlaceLimits;
  #size = 0;
  #keyless = 0;
  /** By address and by network, of clients without the key. Those that have none take no memory. */
  readonly #counts = new Map<string, number>();

  /** `limits`: read at each use, because a reload may change them; a number is shared as by `sharesOf`. */
  constructor(limits: number | (() => PlaceLimits)) {
    this.#limits = typeof limits === 'number' ? sharesOf(limits) : limits;
  }

  /** Places that are taken. */
  get size(): number {
    return this.#size;
  }

  /** Places that an address, or a network (`networkOf`), has taken without the key. */
  of(level: string): number {
    return this.#counts.get(level) ?? 0;
  }

  /** Whether this client may have one more. */
  hasCapacity({ address, isKeyed }: Sharer): boolean {
    const { inAll, keyless, perNetwork, perAddress } = this.#limits();
    if (this.#size >= inAll || isKeyed) return this.#size < inAll;
    const network = networkOf(address);
    // An IPv4 address is its own network.
    const own = network === address ? Math.min(perAddress, perNetwork) : perAddress;
    return this.#keyless < keyless && this.of(address) < own && this.of(network) < perNetwork;
  }

  add({ address, isKeyed }: Sharer, count = 1): void {
    this.#size += count;
    if (isKeyed) return;
    this.#keyless += count;
    for (const level of new Set([address, networkOf(address)]))
      this.#counts.set(level, this.of(level) + count);
  }

  remove({ address, isKeyed }: Sharer): void {
    this.#size--;
    if (isKeyed) return;
    this.#keyless--;
    for (const level of new Set([address, networkOf(address)])) {
      const left = this.of(level) - 1;
      if (left > 0) this.#counts.set(level, left);
      else this.#counts.delete(level);
    }
  }
}
