/** As much of MQTT 3.1.1 as an agent needs, small enough for a thousand connections in one process. */

export const TYPE = { connack: 2, publish: 3, puback: 4, suback: 9, pingresp: 13 } as const;

function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

const number = (value: number) => Buffer.from([value >> 8, value & 255]);

function packet(first: number, parts: readonly Buffer[]): Buffer {
  let rest = parts.reduce((sum, { length }) => sum + length, 0);
  const head = [first];
  do {
    head.push((rest & 127) | (rest > 127 ? 128 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from(head), ...parts]);
}

export interface ConnectFields {
  readonly clientId: string;
  readonly username: string;
  readonly password: string;
  /** Retained, with QoS 1. */
  readonly will: { readonly topic: string; readonly payload: string };
  readonly keepAliveSeconds: number;
}

export function connect({ clientId, username, password, will, keepAliveSeconds }: ConnectFields): Buffer {
  // User, password, retained will with QoS 1, clean session.
  const flags = 0x80 | 0x40 | 0x20 | 0x08 | 0x04 | 0x02;
  const fields = [clientId, will.topic, will.payload, username, password].map(field);
  return packet(0x10, [field('MQTT'), Buffer.from([4, flags]), number(keepAliveSeconds), ...fields]);
}

/** With QoS 0. */
export const subscribe = (id: number, topics: readonly string[]): Buffer =>
  packet(0x82, [number(id), ...topics.flatMap((topic) => [field(topic), Buffer.from([0])])]);

/** `id`: with QoS 1. */
export const publish = (topic: string, payload: string, id?: number, isRetained = false): Buffer =>
  packet(0x30 | (id === undefined ? 0 : 2) | (isRetained ? 1 : 0), [
    field(topic),
    ...(id === undefined ? [] : [number(id)]),
    Buffer.from(payload),
  ]);

export const PING = Buffer.from([0xc0, 0]);

export interface Message {
  readonly topic: string;
  readonly payload: string;
  readonly isRetained: boolean;
}

/** Parses a packet of the type `publish`: its flags and the bytes after its head. */
export function messageOf(flags: number, body: Buffer): Message {
  const topicEnd = 2 + body.readUInt16BE(0);
  const start = topicEnd + ((flags & 6) === 0 ? 0 : 2);
  return {
    topic: body.toString('utf8', 2, topicEnd),
    payload: body.toString('utf8', start),
    isRetained: (flags & 1) === 1,
  };
}

/** Cuts what comes from a broker into packets. */
export class PacketReader {
  #rest: Buffer | undefined;
  readonly #onPacket: (type: number, flags: number, body: Buffer) => void;

  /** `body` is valid during the call only. */
  constructor(onPacket: (type: number, flags: number, body: Buffer) => void) {
    this.#onPacket = onPacket;
  }

  /** `chunk` may be used again afterwards. */
  take(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      let length = 0;
      let start = at + 1;
      for (let shift = 0; start < bytes.length; shift += 7) {
        const byte = bytes[start++] ?? 0;
        length |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      const isWhole = start > at + 1 && (bytes[start - 1] ?? 128) < 128 && start + length <= bytes.length;
      if (!isWhole) break;
      const first = bytes[at] ?? 0;
      at = start + length;
      this.#onPacket(first >> 4, first & 15, bytes.subarray(start, at));
    }
    this.#rest = at === bytes.length ? undefined : Buffer.from(bytes.subarray(at));
  }
}
