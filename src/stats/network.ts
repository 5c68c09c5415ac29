/** The network section of a sample: which interfaces count, sums that never go back, rates. */
import type { InterfaceCounters } from '../host/host.ts';
import type { InterfaceDetail, NetworkDetail, NetworkStats } from '../wire/sample.ts';
import { rateOf } from './round.ts';

/** Kept from reading to reading so that the sums never go back: the last counts of each interface, and of those that left. */
export interface NetworkTotals {
  readonly departedSent: number;
  readonly departedReceived: number;
  readonly counted: readonly InterfaceCounters[];
}

export const NO_TOTALS: NetworkTotals = { departedSent: 0, departedReceived: 0, counted: [] };

/**
 * Interfaces with a device of their own that are no member of a bond or bridge, plus bonds; none of these
 * (containers): all but lo, less members; only lo: lo.
 */
export function selectCounted(interfaces: readonly InterfaceCounters[]): readonly InterfaceCounters[] {
  const free = interfaces.filter((link) => !link.isMember);
  const real = free.filter((link) => link.kind === 'bond' || link.hasDevice);
  if (real.length > 0) return real;
  const others = free.filter((link) => link.kind !== 'loopback');
  return others.length > 0 ? others : free;
}

/** Advances the sums: an interface that left, was reset or was re-created keeps its last count in them. */
export function advanceTotals(before: NetworkTotals, counted: readonly InterfaceCounters[]): NetworkTotals {
  let departedSent = before.departedSent;
  let departedReceived = before.departedReceived;
  for (const [at, last] of before.counted.entries()) {
    // The order is nearly always the same.
    const sameAt = counted[at];
    const link = sameAt?.name === last.name ? sameAt : counted.find(({ name }) => name === last.name);
    if (link !== undefined && continues(last, link)) continue;
    departedSent += last.sentBytes;
    departedReceived += last.receivedBytes;
  }
  return { departedSent, departedReceived, counted };
}

function continues(before: InterfaceCounters, after: InterfaceCounters): boolean {
  return (
    before.index === after.index &&
    after.sentBytes >= before.sentBytes &&
    after.receivedBytes >= before.receivedBytes
  );
}

export function deriveNetworkStats(totals: NetworkTotals): NetworkStats {
  let bytesSent = totals.departedSent;
  let bytesRecv = totals.departedReceived;
  for (const link of totals.counted) {
    bytesSent += link.sentBytes;
    bytesRecv += link.receivedBytes;
  }
  return { bytesSent, bytesRecv };
}

function deriveInterface(
  before: InterfaceCounters | undefined,
  link: InterfaceCounters,
  seconds: number,
): InterfaceDetail {
  const isSame = before !== undefined && continues(before, link) && seconds > 0;
  return {
    name: link.name,
    kind: link.kind,
    up: link.isUp ?? null,
    speed_mbps: link.speedMbps ?? null,
    mac: link.mac ?? null,
    addresses: link.addresses ?? [],
    bytesSent: link.sentBytes,
    bytesRecv: link.receivedBytes,
    send_rate: isSame ? rateOf(before.sentBytes, link.sentBytes, seconds) : null,
    receive_rate: isSame ? rateOf(before.receivedBytes, link.receivedBytes, seconds) : null,
    errin: link.receiveErrors ?? null,
    errout: link.sendErrors ?? null,
    dropin: link.receiveDrops ?? null,
    dropout: link.sendDrops ?? null,
    signal_dbm: link.signalDbm ?? null,
  };
}

type OptionalCounter =
  | 'sentPackets'
  | 'receivedPackets'
  | 'receiveErrors'
  | 'sendErrors'
  | 'receiveDrops'
  | 'sendDrops';

function sumOf(links: Iterable<InterfaceCounters>, key: OptionalCounter): number | null {
  let sum: number | null = null;
  for (const link of links) {
    const value = link[key];
    if (value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}

function addKnown(rates: readonly (number | null)[]): number | null {
  const known = rates.filter((rate) => rate !== null);
  return known.length === 0 ? null : known.reduce((sum, rate) => sum + rate, 0);
}

/** `seconds` between the two readings; 0 where there is no rate (a first reading, a resume). */
export function deriveNetworkDetail(
  before: readonly InterfaceCounters[] | undefined,
  interfaces: readonly InterfaceCounters[] | null,
  totals: NetworkTotals,
  seconds: number,
): NetworkDetail {
  const byName = new Map(before?.map((link) => [link.name, link]));
  const details = (interfaces ?? []).map((link) => deriveInterface(byName.get(link.name), link, seconds));
  const names = new Set(totals.counted.map((link) => link.name));
  const counted = details.filter((detail) => names.has(detail.name));
  const links = totals.counted;
  const { bytesSent, bytesRecv } = deriveNetworkStats(totals);
  return {
    bytesSent,
    bytesRecv,
    send_rate: addKnown(counted.map((detail) => detail.send_rate)),
    receive_rate: addKnown(counted.map((detail) => detail.receive_rate)),
    packetsSent: sumOf(links, 'sentPackets'),
    packetsRecv: sumOf(links, 'receivedPackets'),
    errin: sumOf(links, 'receiveErrors'),
    errout: sumOf(links, 'sendErrors'),
    dropin: sumOf(links, 'receiveDrops'),
    dropout: sumOf(links, 'sendDrops'),
    interfaces: details,
  };
}
