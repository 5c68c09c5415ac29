/** The far ends of cables, where every packet that arrives is read as it was on the wire. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import type { WiredNamespace } from '../helpers/machine/wired-namespace.ts';

export interface Packet {
  /** The hardware address that the frame is for. */
  readonly to: string;
  readonly type: string;
  /** IPv4 and UDP: addresses and the port it was sent to. */
  readonly from?: string;
  readonly address?: string;
  readonly port?: number;
  /** In hex. */
  readonly payload: string;
}

const SNIFFER = `
import socket, sys
ends = {}
import select
for name in sys.argv[1:]:
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    end.bind((name, 0))
    ends[end] = name
print('ready', flush=True)
while True:
    for end in select.select(list(ends), [], [])[0]:
        print(ends[end], end.recv(2048).hex(), flush=True)
`;

/** Parses an Ethernet frame with UDP over IPv4 or with anything else. */
function packetOf(frame: Buffer): Packet {
  const to = frame.subarray(0, 6).toString('hex');
  const type = frame.subarray(12, 14).toString('hex');
  const ip = frame.subarray(14);
  if (type !== '0800' || ip[9] !== 17) return { to, type, payload: ip.toString('hex') };
  const udp = ip.subarray(((ip[0] ?? 0) & 15) * 4);
  return {
    to,
    type,
    from: [...ip.subarray(12, 16)].join('.'),
    address: [...ip.subarray(16, 20)].join('.'),
    port: udp.readUInt16BE(2),
    payload: udp.subarray(8, udp.readUInt16BE(4)).toString('hex'),
  };
}

/** Collects the packets at each far end. `settle` waits until `count` packets have arrived in all, for a minute at most. */
export async function listenAt(t: Test, box: WiredNamespace, ...ends: readonly string[]) {
  const sniffer = box.spawnFar('python3', '-c', SNIFFER, ...ends);
  t.teardown(() => sniffer.kill());
  if (sniffer.stdout === null) throw new Error('no output');
  const lines = createInterface({ input: sniffer.stdout });
  await once(lines, 'line');
  const arrived = new Map(ends.map((end): [string, Packet[]] => [end, []]));
  lines.on('line', (line) => {
    const [end = '', hex = ''] = line.split(' ');
    arrived.get(end)?.push(packetOf(Buffer.from(hex, 'hex')));
  });
  return {
    async take(count: number): Promise<ReadonlyMap<string, readonly Packet[]>> {
      const total = () => [...arrived.values()].reduce((sum, packets) => sum + packets.length, 0);
      const signal = AbortSignal.timeout(60_000);
      while (total() < count) await once(lines, 'line', { signal });
      const taken = new Map([...arrived].map(([end, packets]) => [end, packets.splice(0)]));
      return taken;
    },
  };
}
