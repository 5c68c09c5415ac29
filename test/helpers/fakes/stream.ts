/** A stream's response without a socket: uWebSockets.js's corking, its buffer and its way of losing bytes, as it is. */
import type { AccessRequest } from '#src/access/request.js';
import type { StreamResponse } from '#src/http/uws/stream.js';

const CORK_BYTES = 16 * 1024;

export interface FakeResponseOptions {
  /** How much the kernel takes before somebody reads. */
  readonly kernelBytes: number;
  /** Called as uWebSockets.js calls: with an offset for room, without one for the end. */
  readonly onEvent: (offset?: number) => void;
}

export class FakeResponse implements StreamResponse {
  readonly #options: FakeResponseOptions;
  /** In the kernel, not yet read by the peer. */
  #kernel: Buffer[] = [];
  #kernelBytes = 0;
  #kept = Buffer.alloc(0);
  #cork: Buffer[] | undefined;
  #corkBytes = 0;
  #isPolled = false;
  #lastWriteFailed = false;
  /** What the peer has read, chunk marks included. */
  readonly received: Buffer[] = [];
  sends = 0;
  mostKeptBytes = 0;
  isEnded = false;
  isClosed = false;

  constructor(options: FakeResponseOptions) {
    this.#options = options;
  }

  /** Bytes in user memory. */
  get keptBytes(): number {
    return this.#kept.length;
  }

  write(chunk: Buffer): boolean {
    if (this.isClosed || this.isEnded) throw new Error('a response was written to that is no more');
    this.#write(Buffer.from('\r\n'));
    this.#write(Buffer.from(chunk.length.toString(16)));
    this.#write(Buffer.from('\r\n'));
    return this.#write(chunk);
  }

  cork(body: () => void): this {
    if (this.isClosed) throw new Error('a response was corked that is no more');
    if (this.#cork !== undefined) {
      body();
      return this;
    }
    this.#cork = [];
    this.#corkBytes = 0;
    body();
    if (this.#cork !== undefined) this.#uncork(Buffer.alloc(0));
    return this;
  }

  end(): this {
    if (this.isClosed || this.isEnded) throw new Error('a response was ended that is no more');
    this.#write(Buffer.from('\r\n0\r\n\r\n'));
    this.isEnded = true;
    return this;
  }

  close(): this {
    this.#end();
    return this;
  }

  /** The peer reads `bytes` at most; then, as the event loop would, tells of room. */
  read(bytes: number): void {
    let left = bytes;
    while (left > 0 && this.#kernel.length > 0) {
      const [first = Buffer.alloc(0)] = this.#kernel;
      const part = first.subarray(0, left);
      this.received.push(part);
      left -= part.length;
      this.#kernelBytes -= part.length;
      if (part.length === first.length) this.#kernel.shift();
      else this.#kernel[0] = first.subarray(part.length);
    }
    // The kernel tells of room only when a third is free.
    if (!this.#isPolled || this.isClosed || this.#kernelBytes > (this.#options.kernelBytes * 2) / 3) return;
    this.#lastWriteFailed = false;
    if (this.isEnded) this.#send(Buffer.alloc(0));
    else this.#options.onEvent(0);
    if (!this.#lastWriteFailed) this.#isPolled = false;
  }

  /** The peer goes away. */
  abort(): void {
    this.#end();
  }

  #end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (!this.isEnded) this.#options.onEvent();
  }

  // What the kernel takes of `bytes`, behind what was kept.
  #send(bytes: Buffer): boolean {
    const all = Buffer.concat([this.#kept, bytes]);
    const room = Math.max(0, this.#options.kernelBytes - this.#kernelBytes);
    const taken = all.subarray(0, room);
    this.sends++;
    if (taken.length > 0) this.#kernel.push(taken);
    this.#kernelBytes += taken.length;
    this.#kept = all.subarray(taken.length);
    this.mostKeptBytes = Math.max(this.mostKeptBytes, this.#kept.length);
    if (this.#kept.length === 0) return true;
    this.#isPolled = true;
    this.#lastWriteFailed = true;
    return false;
  }

  #write(bytes: Buffer): boolean {
    // What was kept goes first; behind it nothing is corked.
    if (this.#kept.length > 0 && !this.#send(Buffer.alloc(0))) {
      this.#kept = Buffer.concat([this.#kept, bytes]);
      this.mostKeptBytes = Math.max(this.mostKeptBytes, this.#kept.length);
      return false;
    }
    if (this.#cork === undefined) return bytes.length === 0 || this.#send(bytes);
    if (this.#corkBytes + bytes.length > CORK_BYTES) return this.#uncork(bytes);
    this.#cork.push(bytes);
    this.#corkBytes += bytes.length;
    return true;
  }

  // The fault of this version: `bytes` are lost when what was corked does not fit.
  #uncork(bytes: Buffer): boolean {
    const corked = Buffer.concat(this.#cork ?? []);
    this.#cork = undefined;
    if (corked.length > 0 && !this.#send(corked)) return false;
    return this.#write(bytes);
  }
}

/** The bytes that chunk marks enclose; throws where they are torn. */
export function unchunk(bytes: Buffer): { readonly body: Buffer; readonly isEnded: boolean } {
  const parts: Buffer[] = [];
  // A stream begins where the headers' own line end has been written.
  let at = 0;
  for (;;) {
    if (bytes.length - at < 3) break;
    if (bytes.toString('latin1', at, at + 2) !== '\r\n') throw new Error(`no chunk begins at ${at}`);
    const end = bytes.indexOf('\r\n', at + 2);
    if (end < 0) break;
    const digits = bytes.toString('latin1', at + 2, end);
    if (!/^[0-9a-f]+$/.test(digits)) throw new Error(`no chunk size: ${JSON.stringify(digits)}`);
    const size = Number.parseInt(digits, 16);
    if (size === 0) return { body: Buffer.concat(parts), isEnded: true };
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    if (end + 2 + size > bytes.length) break;
    at = end + 2 + size;
  }
  return { body: Buffer.concat(parts), isEnded: false };
}

/** A client that asked for /api/stream from `address`. */
export function clientAt(address: string): AccessRequest {
  return {
    remoteAddress: address,
    method: 'GET',
    path: '/api/stream',
    isUpgrade: false,
    headers: new Map(),
    queryKeys: [],
  };
}
