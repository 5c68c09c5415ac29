/** The network section of a sample: the sums, and the rates of each interface. */
import type { InterfaceCounters } from '../host/host.ts';
import type { InterfaceDetail, NetworkDetail, NetworkStats } from '../wire/sample.ts';
import { keyOf, type NetworkTotals } from './network-totals.ts';
import { rateOf } from './round.ts';

function continues(before: InterfaceCounters, after: InterfaceCounters): boolean {
  return after.sentBytes >= before.sentBytes && after.receivedBytes >= before.receivedBytes;
}

export function deriveNetworkStats(totals: NetworkTotals): NetworkStats {
  return { bytesSent: totals.sentBytes, bytesRecv: totals.receivedBytes };
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

/** `seconds` between the two readings; 0 if no rate can be derived (a first reading, a resume). */
export function deriveNetworkDetail(
  before: readonly InterfaceCounters[] | undefined,
  interfaces: readonly InterfaceCounters[] | null,
  totals: NetworkTotals,
  seconds: number,
): NetworkDetail {
  const earlier = new Map(before?.map((link) => [keyOf(link), link]));
  const details = (interfaces ?? []).map((link) => deriveInterface(earlier.get(keyOf(link)), link, seconds));
  const links = totals.counted;
  const keys = new Set(links.map(keyOf));
  const counted = details.filter((_, at) => {
    const link = interfaces?.[at];
    return link !== undefined && keys.has(keyOf(link));
  });
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
