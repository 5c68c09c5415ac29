/** Wakes a machine: finds the targets of its packet, sends it, and returns the result. */
import type { WakeHost } from '../host/wake.ts';
import { magicPacket, parseMac } from './packet.ts';
import { type Sent, sendToAll, targetsOf } from './send.ts';

/** A machine to be woken, as the configuration has it. */
export interface WakeTarget {
  /** As parseMac reads it. */
  readonly mac: string;
  /** An IPv4 address; undefined: that of each interface. */
  readonly broadcast?: string | undefined;
  readonly port: number;
}

export interface WakeResult {
  readonly mac: string;
  readonly targets: readonly Sent[];
  /** Why no packet was sent; undefined: at least one was. */
  readonly failure: string | undefined;
}

/** Rejects only when `interfaces` does. */
export async function wakeMachine(
  { mac: written, broadcast, port }: WakeTarget,
  interfaces: WakeHost['readBroadcastAddresses'],
): Promise<WakeResult> {
  const mac = parseMac(written) ?? '';
  const targets = targetsOf(broadcast === undefined ? await interfaces() : [], broadcast, port);
  if (targets.length === 0)
    return {
      mac,
      targets: [],
      failure: 'no interface has a link and an IPv4 broadcast address',
    };
  const sent = await sendToAll(magicPacket(mac), targets);
  const isSent = sent.some(({ packets }) => packets > 0);
  return { mac, targets: sent, failure: isSent ? undefined : sent.map(describeSent).join('; ') };
}

/** Returns "192.0.2.255 (eth0)", with the error if it has one. */
export function describeSent({ address, interface: name, error }: Sent): string {
  const where = name === null ? address : `${address} (${name})`;
  return error === null ? where : `${where}: ${error}`;
}
