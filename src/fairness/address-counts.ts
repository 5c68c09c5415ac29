/** Counts by client address, and for IPv6 by the /64 network of the address too. */

/**
 * A /64 as a whole may have this many times the limit of one address. One host has 2^64 addresses in it, and in a LAN
 * its neighbours have theirs there: the host stays bounded, and one address never takes the room of another.
 */
export const NETWORK_FACTOR = 4;

const NETWORK_SUFFIX = '::/64';
/** An IPv4 address in IPv6 form, as systems and engines write it. */
const MAPPED = /^[0:]{2,34}:ffff:/i;

/** Sufficient to distinguish an IPv6 address from any other text, such as `broker.lan:1883`. */
const IPV6 = /^[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:%|$)/i;

const groupsOf = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));

/** The /64 network of an IPv6 address, with or without a zone; any other text, such as an IPv4 address, itself. */
export function networkOf(address: string): string {
  if (!address.includes(':') || MAPPED.test(address) || !IPV6.test(address)) return address;
  const [withoutZone = ''] = address.split('%');
  const [left = '', right = ''] = withoutZone.split('::');
  const [before, after] = [groupsOf(left), groupsOf(right)];
  const zeros: readonly string[] = Array(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}${NETWORK_SUFFIX}`;
}

/** The names that a client is counted by: its address, and the /64 network of an IPv6 address. */
export function levelsOf(address: string): readonly string[] {
  const network = networkOf(address);
  return network === address ? [address] : [address, network];
}

/** The limit of one of `levelsOf` where one address has the limit `max`. */
export const limitOf = (level: string, max: number): number =>
  level.endsWith(NETWORK_SUFFIX) ? max * NETWORK_FACTOR : max;

export class AddressCounts {
  /** By address and by network. Those that have none take no memory. */
  readonly #counts = new Map<string, number>();
  #total = 0;

  /** The sum over all addresses. */
  get total(): number {
    return this.#total;
  }

  /** The count of an address, or of a network (`networkOf`). */
  of(level: string): number {
    return this.#counts.get(level) ?? 0;
  }

  add(address: string, more = 1): void {
    this.#total += more;
    for (const level of levelsOf(address)) this.#counts.set(level, this.of(level) + more);
  }

  remove(address: string): void {
    if (this.of(address) === 0) return;
    this.#total--;
    for (const level of levelsOf(address)) {
      const left = this.of(level) - 1;
      if (left > 0) this.#counts.set(level, left);
      else this.#counts.delete(level);
    }
  }

  /** Whether `address` may have one more where each address may have `max`, and its /64 a multiple of that. */
  hasCapacity(address: string, max: number): boolean {
    return levelsOf(address).every((level) => this.of(level) < limitOf(level, max));
  }

  /** Addresses, without their networks, and their counts. */
  *addresses(): Generator<readonly [address: string, count: number]> {
    for (const entry of this.#counts) if (!entry[0].endsWith(NETWORK_SUFFIX)) yield entry;
  }
}
