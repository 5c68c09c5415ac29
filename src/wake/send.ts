/** Sends a packet to broadcast addresses, without waiting: a send without room in the kernel's buffers is an error. */
import type { Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLACES } from '../fairness/limits.ts';
import type { BroadcastAddress } from '../host/wake.ts';
import { WAKE_PORT } from './packet.ts';

export interface Target {
  /** The interface that it is sent through; null if the kernel's routes decide. */
  readonly interface: string | null;
  /** The interface's own address; undefined: any. */
  readonly from: string | undefined;
  /** An IPv4 address. */
  readonly address: string;
  readonly port: number;
}

export interface Sent {
  readonly interface: string | null;
  readonly address: string;
  readonly port: number;
  /** Number of times that it was sent. */
  readonly packets: number;
  /** Why it was not sent, or not every time. */
  readonly error: string | null;
}

/** Repeated, because a card that is just losing its link, or a busy switch, may lose a packet. */
const ROUNDS = 3;
const ROUND_MS = 90;

/** The broadcast address of any network: a socket with an interface's own address sends through that interface. */
const LIMITED_BROADCAST = '255.255.255.255';

/** `broadcast`: the only address that is sent to; otherwise that of each interface. */
export function targetsOf(
  interfaces: readonly BroadcastAddress[],
  broadcast: string | undefined,
  port = WAKE_PORT,
): readonly Target[] {
  if (broadcast !== undefined) return [{ interface: null, from: undefined, address: broadcast, port }];
  return interfaces.map(({ name, address, broadcast: own }) => ({
    interface: name,
    from: address,
    address: own ?? LIMITED_BROADCAST,
    port,
  }));
}

/** Sends `packet` to each target three times within 0.2 s, to at most 32 at a time. Never rejects. */
export async function sendToAll(packet: Buffer, targets: readonly Target[]): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  for (let at = 0; at < targets.length; at += PLACES.wakeSockets.max) {
    const some = targets.slice(at, at + PLACES.wakeSockets.max);
    sent.push(...(await Promise.all(some.map((target) => sendTo(packet, target)))));
  }
  return sent;
}

async function sendTo(packet: Buffer, { from, ...target }: Target): Promise<Sent> {
  let packets = 0;
  let socket: Socket | undefined;
  try {
    socket = await openSocket(from);
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await sleep(ROUND_MS);
      await sendOnce(socket, packet, target);
      packets++;
    }
    return { ...target, packets, error: null };
  } catch (error) {
    return { ...target, packets, error: describe(error) };
  } finally {
    socket?.close();
  }
}

async function openSocket(from: string | undefined): Promise<Socket> {
  const { createSocket } = await import('node:dgram');
  const socket = createSocket('udp4');
  return await new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      socket.close();
      reject(error);
    };
    socket.once('error', fail);
    socket.bind({ port: 0, ...(from === undefined ? {} : { address: from }) }, () => {
      try {
        socket.setBroadcast(true);
      } catch (error) {
        return fail(error as Error); // setBroadcast throws nothing else
      }
      socket.off('error', fail);
      // An error that no send waits for.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

function sendOnce(socket: Socket, packet: Buffer, { address, port }: Pick<Target, 'address' | 'port'>) {
  return new Promise<void>((resolve, reject) => {
    socket.send(packet, port, address, (error) => (error ? reject(error) : resolve()));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'broadcasts are not permitted',
  EPERM: "blocked by a firewall or by this service's sandbox",
  ENETUNREACH: 'no route to the network',
  EHOSTUNREACH: 'no route to the address',
  ENETDOWN: 'the interface is down',
  EADDRNOTAVAIL: 'the interface no longer has an address',
  ENOBUFS: 'the queue of the interface is full',
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code === undefined ? undefined : REASONS[code];
  if (reason === undefined) return code ?? error.message;
  return `${code}: ${reason}`;
}
