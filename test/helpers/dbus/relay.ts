/** A socket between a program and its bus: forwards everything and records each call as it passes. */
import { rmSync } from 'node:fs';
import net from 'node:net';

export interface PassedCall {
  readonly destination: string;
  readonly member: string;
  /** The first argument, where it is one of the types that power needs. */
  readonly argument: string | number | boolean | undefined;
  /** process.hrtime before the call was forwarded: no peer on the bus can have seen it earlier. */
  readonly atNs: bigint;
}

const align = (at: number, to: number) => Math.ceil(at / to) * to;

/** The calls in `bytes`, which sd-bus has written (little-endian), and their length in bytes. */
function readCalls(
  bytes: Buffer,
  atNs: bigint,
): { readonly calls: readonly PassedCall[]; readonly used: number } {
  const calls: PassedCall[] = [];
  let used = 0;
  while (bytes.length - used >= 16) {
    const message = bytes.subarray(used);
    const fieldsEnd = 16 + message.readUInt32LE(12);
    const bodyAt = align(fieldsEnd, 8);
    const end = bodyAt + message.readUInt32LE(4);
    if (message.length < end) break;
    used += end;
    if (message[1] !== 1) continue;
    const fields = readFields(message, fieldsEnd);
    calls.push({
      destination: fields.get(6) ?? '',
      member: fields.get(3) ?? '',
      argument: readArgument(message.subarray(bodyAt, end), fields.get(8) ?? ''),
      atNs,
    });
  }
  return { calls, used };
}

/** The text header fields, by their code. */
function readFields(message: Buffer, fieldsEnd: number): ReadonlyMap<number, string> {
  const fields = new Map<number, string>();
  for (let at = 16; at < fieldsEnd; ) {
    at = align(at, 8);
    const code = message[at] ?? 0;
    const type = String.fromCharCode(message[at + 2] ?? 0);
    at += 4;
    if (type === 'g') {
      const length = message[at] ?? 0;
      fields.set(code, message.toString('latin1', at + 1, at + 1 + length));
      at += length + 2;
    } else if (type === 'u') {
      at = align(at, 4) + 4;
    } else {
      at = align(at, 4);
      const length = message.readUInt32LE(at);
      fields.set(code, message.toString('utf8', at + 4, at + 4 + length));
      at += length + 5;
    }
  }
  return fields;
}

function readArgument(body: Buffer, signature: string): PassedCall['argument'] {
  switch (signature[0]) {
    case 's':
      return body.toString('utf8', 4, 4 + body.readUInt32LE(0));
    case 't':
      return Number(body.readBigUInt64LE(0));
    case 'b':
      return body.readUInt32LE(0) === 1;
    default:
      return undefined;
  }
}

export class BusRelay {
  readonly calls: PassedCall[] = [];
  /** Number of connections made to it so far. */
  connections = 0;
  readonly socket: string;
  readonly address: string;
  readonly #server: net.Server;
  readonly #open = new Set<net.Socket>();

  private constructor(socket: string, busSocket: string) {
    this.socket = socket;
    this.address = `unix:path=${socket}`;
    this.#server = net.createServer((client) => this.#relay(client, busSocket));
  }

  /** Listens on `socket` for programs whose bus is at `busSocket`. */
  static async start(socket: string, busSocket: string): Promise<BusRelay> {
    const relay = new BusRelay(socket, busSocket);
    await new Promise<void>((resolve) => relay.#server.listen(socket, resolve));
    return relay;
  }

  /** Calls with a destination other than the bus itself. */
  get toServices(): readonly PassedCall[] {
    return this.calls.filter(({ destination }) => destination !== 'org.freedesktop.DBus');
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.socket, { force: true });
  }

  #relay(client: net.Socket, busSocket: string): void {
    this.connections++;
    const bus = net.connect(busSocket);
    for (const [from, to] of [
      [client, bus],
      [bus, client],
    ] as const) {
      this.#open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#open.delete(from);
        to.destroy();
      });
    }
    bus.on('data', (part: Buffer) => client.write(part));
    let unread = Buffer.alloc(0);
    let isBinary = false;
    client.on('data', (part: Buffer) => {
      const atNs = process.hrtime.bigint();
      unread = Buffer.concat([unread, part]);
      if (!isBinary) {
        const begin = unread.indexOf('BEGIN\r\n');
        isBinary = begin >= 0;
        if (isBinary) unread = unread.subarray(begin + 7);
      }
      if (isBinary) {
        const { calls, used } = readCalls(unread, atNs);
        this.calls.push(...calls);
        unread = unread.subarray(used);
      }
      bus.write(part);
    });
  }
}
