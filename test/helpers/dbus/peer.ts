/** A peer on a private bus that can misbehave in every way the protocol allows. */
import net from 'node:net';
import process from 'node:process';
import { Reader, typesIn, Writer } from './wire.ts';

export type MessageType = 'call' | 'return' | 'error' | 'signal';
const TYPES: readonly MessageType[] = ['call', 'return', 'error', 'signal'];

export interface Message {
  readonly type: MessageType;
  readonly serial: number;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly errorName: string;
  readonly replySerial: number;
  readonly sender: string;
  readonly destination: string;
  readonly body: readonly unknown[];
}

export interface Outgoing {
  readonly type: MessageType;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
};

function encode(message: Outgoing, serial: number): Buffer {
  const body = new Writer();
  const types = typesIn(message.signature ?? '');
  for (const [i, type] of types.entries()) body.write(type, message.body?.[i]);
  const fields: [number, { signature: string; value: unknown }][] = [];
  const add = (code: number, signature: string, value: unknown) => {
    if (value !== undefined) fields.push([code, { signature, value }]);
  };
  add(1, 'o', message.path);
  add(2, 's', message.interface);
  add(3, 's', message.member);
  add(4, 's', message.errorName);
  add(5, 'u', message.replySerial);
  add(6, 's', message.destination);
  add(8, 'g', message.signature);
  const head = new Writer();
  // Little-endian, its type, no flags, version 1.
  for (const byte of [108, TYPES.indexOf(message.type) + 1, 0, 1]) head.write('y', byte);
  head.write('u', body.length);
  head.write('u', serial);
  head.write('a(yv)', fields);
  head.align(8);
  return Buffer.concat([head.bytes(), body.bytes()]);
}

/** The first message of `bytes` and its length; undefined while it is incomplete. */
function decode(bytes: Buffer): { readonly message: Message; readonly length: number } | undefined {
  if (bytes.length < 16) return undefined;
  const headEnd = Math.ceil((16 + bytes.readUInt32LE(12)) / 8) * 8;
  const length = headEnd + bytes.readUInt32LE(4);
  if (bytes.length < length) return undefined;
  // Always little-endian, because all peers of the bus are.
  const fields = new Map(new Reader(bytes, 12).read('a(yv)') as [number, { value: unknown }][]);
  const field = (code: number) => fields.get(code)?.value;
  const reader = new Reader(bytes.subarray(headEnd, length));
  const message: Message = {
    type: TYPES[(bytes[1] ?? 1) - 1] ?? 'call',
    serial: bytes.readUInt32LE(8),
    path: String(field(1) ?? ''),
    interface: String(field(2) ?? ''),
    member: String(field(3) ?? ''),
    errorName: String(field(4) ?? ''),
    replySerial: Number(field(5) ?? 0),
    destination: String(field(6) ?? ''),
    sender: String(field(7) ?? ''),
    body: typesIn(String(field(8) ?? '')).map((type) => reader.read(type)),
  };
  return { message, length };
}

/** The bus sees the user that makes the connection, which happens within the call. */
function connectAs(uid: number, path: string): net.Socket {
  const own = process.geteuid?.();
  if (own === undefined || own === uid) return net.connect(path);
  process.seteuid?.(uid);
  try {
    return net.connect(path);
  } finally {
    process.seteuid?.(own);
  }
}

export class DbusPeer {
  readonly #socket: net.Socket;
  #serial = 0;
  #received: Buffer = Buffer.alloc(0);
  readonly #replies = new Map<number, (message: Message) => void>();
  /** Called for each call and signal that arrives. */
  onMessage: (message: Message) => void = () => undefined;
  /** Its unique name, `:1.7`. */
  name = '';

  private constructor(socket: net.Socket) {
    this.#socket = socket;
  }

  /** Connects to the bus at `address` (`unix:path=…`) and greets it; as the user `uid`, if root does. */
  static async open(address: string, uid = process.getuid?.() ?? 0): Promise<DbusPeer> {
    const path = /unix:path=([^,;]+)/.exec(address)?.[1];
    if (path === undefined) throw new Error(`no path in ${address}`);
    const socket = connectAs(uid, path);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.write(`\0AUTH EXTERNAL ${Buffer.from(String(uid)).toString('hex')}\r\n`);
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (bytes) => resolve(bytes.toString())),
    );
    if (!answer.startsWith('OK ')) throw new Error(`the bus says ${answer}`);
    socket.write('BEGIN\r\n');
    const peer = new DbusPeer(socket);
    socket.on('data', (bytes) => peer.#receive(bytes));
    socket.on('error', () => undefined);
    const [name] = await peer.call({ ...BUS, member: 'Hello' });
    peer.name = String(name);
    return peer;
  }

  /** Sends a message; returns the serial number that its reply will carry. */
  send(message: Outgoing): number {
    this.#socket.write(encode(message, ++this.#serial));
    return this.#serial;
  }

  /** Calls a method; returns the values of the reply. Rejects with the error's name and text. */
  async call(message: Omit<Outgoing, 'type'>): Promise<readonly unknown[]> {
    const reply = await new Promise<Message>((resolve) =>
      this.#replies.set(this.send({ type: 'call', ...message }), resolve),
    );
    if (reply.type === 'error') throw new Error(`${reply.errorName}: ${String(reply.body[0] ?? '')}`);
    return reply.body;
  }

  async requestName(name: string): Promise<void> {
    await this.call({ ...BUS, member: 'RequestName', signature: 'su', body: [name, 0] });
  }

  async match(rule: string): Promise<void> {
    await this.call({ ...BUS, member: 'AddMatch', signature: 's', body: [rule] });
  }

  reply(to: Message, signature?: string, body?: readonly unknown[]): void {
    this.send({
      type: 'return',
      replySerial: to.serial,
      destination: to.sender,
      ...(signature !== undefined && { signature }),
      ...(body !== undefined && { body }),
    });
  }

  fail(to: Message, errorName: string, text: string): void {
    const { serial, sender } = to;
    const body = { signature: 's', body: [text] };
    this.send({ type: 'error', replySerial: serial, destination: sender, errorName, ...body });
  }

  /** Sends raw bytes. */
  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Stops reading: the daemon then queues the messages for this peer. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    for (;;) {
      const decoded = decode(this.#received);
      if (decoded === undefined) return;
      this.#received = this.#received.subarray(decoded.length);
      const { message } = decoded;
      const settle = this.#replies.get(message.replySerial);
      if (message.type === 'return' || message.type === 'error') {
        this.#replies.delete(message.replySerial);
        settle?.(message);
      } else this.onMessage(message);
    }
  }
}
