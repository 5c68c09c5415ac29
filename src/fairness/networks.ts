/** The names that limits count a client by: its address, and for IPv6 the /64 network of the address too. */

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
