/** Selects the network interfaces that count, and keeps running sums of their bytes. Pure. */
import { REMEMBERED } from '../fairness/limits.ts';
import type { InterfaceCounters } from '../host/host.ts';

type Links = readonly InterfaceCounters[];

/**
 * Each byte that enters or leaves the machine is counted where it passes the outermost interface. With hardware, that
 * is the hardware, whatever it is a member of: a bond repeats its members' bytes, a bridge and an Open vSwitch count
 * only packets from and to the machine itself, and everything virtual leaves through hardware. Hardware is left out
 * where its master or the interface below it has a device as well, because that one counts the same bytes: a virtual
 * function under its netvsc or failover interface, a switch port above the interface of its switch (DSA).
 */
export function selectCounted(interfaces: Links): Links {
  const hardware = interfaces.filter((link) => link.hasDevice);
  if (hardware.length === 0) return selectVirtual(interfaces);
  const indexes = new Set(hardware.map((link) => link.index));
  return hardware.filter((link) => !indexes.has(link.masterIndex) && !indexes.has(link.lowerIndex));
}

/**
 * Selects without hardware (a container): all but lo that are neither made of others in the list (bonds, bridges,
 * masters of any other kind) nor on top of one (VLANs); tunnels only if nothing else is left, because their packets
 * leave through another interface; the end of a pair in a bridge only if nothing else has received anything, because
 * its other end is inside (Docker in LXC); lo only if it is alone.
 */
function selectVirtual(interfaces: Links): Links {
  const indexes = new Set(interfaces.map((link) => link.index));
  // An interface that was removed or renamed during the reading has no index: its count would be added a
  // second time under its index. If none has one, /sys cannot be read.
  indexes.delete(UNKNOWN_INDEX);
  const known = indexes.size === 0 ? interfaces : interfaces.filter(hasIndex);
  const masters = new Set(known.map((link) => link.masterIndex));
  const others = known.filter((link) => link.kind !== 'loopback');
  if (others.length === 0) return known;
  const outermost = others.filter(
    (link) =>
      link.kind !== 'bridge' &&
      link.kind !== 'bond' &&
      !(hasIndex(link) && masters.has(link.index)) &&
      !indexes.has(link.lowerIndex),
  );
  const untunneled = outermost.filter((link) => link.kind !== 'tunnel');
  const candidates = untunneled.length > 0 ? untunneled : outermost;
  const bridges = new Set(known.map((link) => (link.kind === 'bridge' ? link.index : undefined)));
  const outside = candidates.filter((link) => link.hasPeer !== true || !bridges.has(link.masterIndex));
  return outside.some((link) => link.receivedBytes > 0) ? outside : candidates;
}

const UNKNOWN_INDEX = 0;
const hasIndex = (link: InterfaceCounters): boolean => link.index !== UNKNOWN_INDEX;

/** Returns the identity of an interface across readings, also when it is renamed. */
export const keyOf = (link: InterfaceCounters): number | string => (hasIndex(link) ? link.index : link.name);

/** The last count of an interface in the list. */
interface LastCount {
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly isCounted: boolean;
  readonly hasDevice: boolean;
}

export interface NetworkTotals {
  /** The running sums, in bytes. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** The interfaces that count, as last read. */
  readonly counted: Links;
  /** All interfaces by `keyOf`, starting with those that left. */
  readonly last: ReadonlyMap<number | string, LastCount>;
}

export const NO_TOTALS: NetworkTotals = { sentBytes: 0, receivedBytes: 0, counted: [], last: new Map() };

/** A counter that is lower than before was reset, and restarted at 0. */
const growthOf = (before: number, after: number): number => (after >= before ? after - before : after);

/**
 * Adds the bytes since the previous reading. A new interface adds its whole count; one that did not count in the
 * previous reading adds nothing yet, because its master or its peers in the list have counted some of those bytes. So
 * the sums never fall, and bytes that an interface counted long ago never enter them later.
 */
export function advanceTotals(before: NetworkTotals, interfaces: Links): NetworkTotals {
  const counted = selectCounted(interfaces);
  const counting = new Set(counted);
  const present = new Map<number | string, LastCount>();
  let { sentBytes, receivedBytes } = before;
  for (const link of interfaces) {
    const key = keyOf(link);
    const last = before.last.get(key);
    const isCounted = counting.has(link);
    if (isCounted && last?.isCounted !== false) {
      sentBytes += growthOf(last?.sentBytes ?? 0, link.sentBytes);
      receivedBytes += growthOf(last?.receivedBytes ?? 0, link.receivedBytes);
    }
    present.set(key, {
      sentBytes: link.sentBytes,
      receivedBytes: link.receivedBytes,
      isCounted,
      hasDevice: link.hasDevice,
    });
  }
  const departed = departedOf(before, present);
  const last = departed.length === 0 ? present : new Map([...departed, ...present]);
  return { sentBytes, receivedBytes, counted, last };
}

function departedOf(
  before: NetworkTotals,
  present: ReadonlyMap<number | string, LastCount>,
): readonly (readonly [number | string, LastCount])[] {
  const departed: (readonly [number | string, LastCount])[] = [];
  for (const [key, last] of before.last)
    if (!present.has(key) && (last.isCounted || last.hasDevice)) departed.push([key, last]);
  return departed.slice(-REMEMBERED.departedInterfaces);
}
