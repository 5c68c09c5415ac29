/** A stream's response without a socket: imitates the corking of uWebSockets.js, its buffer, and how it loses bytes. */
import type { StreamResponse } from '#src/http/uws/stream.js';

const CORK_BYTES = 16 * 1024;

export interface FakeResponseOptions {
  /** Bytes that the kernel accepts before the peer reads. */
  readonly kernelBytes: number;
  /** Called as uWebSockets.js does: with an offset when there is room, without one at the end. */
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
  /** The bytes that the peer has read, chunk marks included. */
  readonly received: Buffer[] = [];
  sends = 0;
  mostKeptBytes = 0;
  isEnded = false;
  isClosed = false;

  constructor(options: FakeResponseOptions) {
    this.#options = options;
  }

  /** Bytes in user memory. */
  get bufferedBytes(): number {
    return this.#kept.length;
  }

  write(chunk: Buffer): boolean {
    if (this.isClosed || this.isEnded) throw new Error('write to a response that has ended');
    this.#write(Buffer.from('\r\n'));
    this.#write(Buffer.from(chunk.length.toString(16)));
    this.#write(Buffer.from('\r\n'));
    return this.#write(chunk);
  }

  cork(body: () => void): this {
    if (this.isClosed) throw new Error('cork of a response that has ended');
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
    if (this.isClosed || this.isEnded) throw new Error('end of a response that has already ended');
    this.#write(Buffer.from('\r\n0\r\n\r\n'));
    this.isEnded = true;
    return this;
  }

  close(): this {
    this.#end();
    return this;
  }

  /** The peer reads at most `bytes`; then the event loop reports room. */
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
    // The kernel reports room only when a third is free.
    if (!this.#isPolled || this.isClosed || this.#kernelBytes > (this.#options.kernelBytes * 2) / 3) return;
    this.#lastWriteFailed = false;
    if (this.isEnded) this.#send(Buffer.alloc(0));
    else this.#options.onEvent(0);
    if (!this.#lastWriteFailed) this.#isPolled = false;
  }

  /** The peer disconnects. */
  abort(): void {
    this.#end();
  }

  #end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (!this.isEnded) this.#options.onEvent();
  }

  // Appends `bytes` to the kept ones and passes as many to the kernel as it accepts.
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
    // Kept bytes go first; after them nothing is corked.
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

  // The bug of this version: `bytes` are lost when the corked bytes do not fit.
  #uncork(bytes: Buffer): boolean {
    const corked = Buffer.concat(this.#cork ?? []);
    this.#cork = undefined;
    if (corked.length > 0 && !this.#send(corked)) return false;
    return this.#write(bytes);
  }
}

/** The payload between the chunk marks; throws if a chunk is torn. */
export function unchunk(bytes: Buffer): { readonly body: Buffer; readonly isEnded: boolean } {
  const parts: Buffer[] = [];
  // A stream begins after the line end of the headers.
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
