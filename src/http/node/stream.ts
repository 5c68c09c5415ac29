/**
 * One open event stream on Node's socket. Every event is one chunk of its own framing and one `write`, so that no client
 * waits for the rest of a chunk. A client of HTTP/1.0, which knows no chunks, gets the bare events.
 */
import type net from 'node:net';
import type { Caller } from '../../access/caller.ts';
import type { StreamSocket } from '../engine.ts';

const SILENCE = Buffer.from(':\n\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const NOTHING = Buffer.alloc(0);
const END_OF_CHUNK = Buffer.from('\r\n');

// The last chunk that was made: all streams of a view share it.
let lastEvent: Buffer = NOTHING;
let lastChunk: Buffer = NOTHING;

function chunkOf(event: Buffer): Buffer {
  if (event !== lastEvent) {
    lastChunk = Buffer.concat([Buffer.from(`${event.length.toString(16)}\r\n`), event, END_OF_CHUNK]);
    lastEvent = event;
  }
  return lastChunk;
}

/** How the bytes of a stream are framed: HTTP/1.0 has no chunks. */
export const framingOf = (isChunked: boolean) => (isChunked ? chunkOf : (event: Buffer) => event);

/** Undocumented, but in every Node. undefined for TLS, whose bytes are not those of the descriptor, and on Windows. */
export function descriptorOf(socket: net.Socket): number | undefined {
  if ('encrypted' in socket) return undefined;
  const { _handle: handle } = socket as net.Socket & { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd;
  return fd !== undefined && fd >= 0 ? fd : undefined;
}

/** Calls `onEmpty` when all that waits in user memory has left; false: nothing waits. */
export function whenEmpty(socket: net.Socket, onEmpty: () => void): boolean {
  if (socket.writableLength === 0) return false;
  // Node's 'drain' comes only after more than its high-water mark was waiting.
  socket.write(NOTHING, onEmpty);
  return true;
}

export class NodeStream implements StreamSocket {
  readonly caller: Caller;
  readonly isStream = true;
  place = 0;
  sent: number;
  writtenAt: number;
  readonly #isChunked: boolean;
  #socket: net.Socket | undefined;
  #isFull = false;
  /** Called when the socket has room again after it was full. */
  onDrained: () => void = () => undefined;

  constructor(
    socket: net.Socket,
    isChunked: boolean,
    { caller, sent, writtenAt }: Pick<StreamSocket, 'caller' | 'sent' | 'writtenAt'>,
  ) {
    this.#socket = socket;
    this.#isChunked = isChunked;
    this.caller = caller;
    this.sent = sent;
    this.writtenAt = writtenAt;
  }

  get address(): string {
    return this.caller.address;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  bufferedBytes(): number {
    return this.#socket?.writableLength ?? 0;
  }

  /** The head of the answer and the first event, in one write. */
  sendFirst(head: Buffer, event: Buffer): void {
    this.#write(Buffer.concat([head, framingOf(this.#isChunked)(event)]));
  }

  send(event: Buffer): void {
    if (!this.#isFull) this.#write(framingOf(this.#isChunked)(event));
  }

  sendDrained(event: Buffer): void {
    this.send(event);
  }

  resume(): boolean {
    this.#isFull = false;
    return true;
  }

  /** Node sends what it keeps without a further call. */
  flush(): void {}

  sendComment(): void {
    this.send(SILENCE);
  }

  /** The last chunk follows what is kept. */
  end(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (this.#isChunked) socket?.write(LAST_CHUNK);
    // Closes this side, and the connection when the peer has closed its own or 2 s have passed (connection.ts).
    socket?.destroySoon();
  }

  cut(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
  }

  markClosed(): void {
    this.#socket = undefined;
  }

  #write(bytes: Buffer): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    socket.write(bytes);
    this.#isFull = whenEmpty(socket, () => {
      if (this.#socket !== undefined) this.onDrained();
    });
  }
}
