/**
 * One open event stream of uWebSockets.js itself, where the native writer does not send it: off Linux, and where the
 * connection was not found. The line end that completes a chunk comes with the next chunk (docs/engines.md).
 */
import type { Caller } from '../../access/caller.ts';
import type { StreamSocket, StreamStart } from '../engine.ts';

/** The part of uWebSockets.js's response that a stream uses. */
export interface StreamResponse {
  /** False: this chunk or an earlier one did not fit; it is kept in user memory then. */
  write(chunk: Buffer): boolean;
  /** Everything that `body` writes leaves with one `send`. */
  cork(body: () => void): unknown;
  end(): unknown;
  close(): unknown;
}

const COMMENT = Buffer.from(':\n\n');

/**
 * Maximum bytes of an event in one cork. The cork's buffer holds 16 KiB, and bytes that overflow it are lost when the
 * kernel does not take the buffer at that moment: so nothing may overflow it. The rest is for the mark of the chunk.
 */
const CORKED_BYTES = 16 * 1024 - 64;
/** As CORKED_BYTES, where headers and earlier answers on the connection may be in the buffer too. */
const FIRST_BYTES = 8 * 1024;
const NOTHING_LEFT = Buffer.alloc(0);

/**
 * Written first where earlier bytes may have been kept: these fit only if all bytes before them did. Only then the rest
 * follows, so that little is kept for a socket that takes little.
 */
const PROBE_BYTES = 16;

/** uWebSockets.js keeps what the kernel does not take: two pieces at most, because a full socket is skipped. */
export class UwsStream implements StreamSocket {
  readonly caller: Caller;
  readonly isStream = true;
  place = 0;
  sent: number;
  writtenAt: number;
  #response: StreamResponse | undefined;
  /** The rest of an event while the socket is full. */
  #rest: Buffer | undefined;

  constructor(response: StreamResponse, { caller, sent, writtenAt }: StreamStart) {
    this.#response = response;
    this.caller = caller;
    this.sent = sent;
    this.writtenAt = writtenAt;
  }

  get address(): string {
    return this.caller.address;
  }

  bufferedBytes(eventBytes: number): number {
    return Math.min(2 * eventBytes, CORKED_BYTES);
  }

  get isFull(): boolean {
    return this.#rest !== undefined;
  }

  /** Writes `bytes` in pieces, until one does not fit; with a probe before each, where earlier bytes may have been kept. */
  #write(bytes: Buffer, isProbed: boolean): void {
    const response = this.#response;
    for (let left = bytes; response !== undefined && left.length > 0; ) {
      const pieces = isProbed ? [PROBE_BYTES, CORKED_BYTES - PROBE_BYTES] : [CORKED_BYTES];
      let fitted = true;
      response.cork(() => {
        for (const length of pieces) {
          if (!fitted || left.length === 0) return;
          fitted = response.write(left.subarray(0, length));
          left = left.subarray(length);
        }
      });
      if (!fitted) {
        this.#rest = left;
        return;
      }
    }
  }

  send(event: Buffer): void {
    if (this.#rest === undefined) this.#write(event, event.length > CORKED_BYTES);
  }

  sendDrained(event: Buffer): void {
    if (this.#rest === undefined) this.#write(event, true);
  }

  /** The first event, inside the cork that holds the headers. False: it is long, and `resume` must be called for the rest. */
  sendFirst(event: Buffer): boolean {
    if (this.#response?.write(event.subarray(0, FIRST_BYTES)) === false) this.#rest = NOTHING_LEFT;
    if (event.length <= FIRST_BYTES) return true;
    this.#rest = event.subarray(FIRST_BYTES);
    return false;
  }

  resume(): boolean {
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) this.#write(rest, true);
    return this.#rest === undefined;
  }

  /** uWebSockets.js passes on what it kept when something is written, or has room. */
  flush(): void {
    this.#response?.cork(() => undefined);
  }

  sendComment(): void {
    this.send(COMMENT);
  }

  end(): void {
    const response = this.#response;
    const rest = this.#rest;
    // Even to a full socket: these are the last bytes.
    for (let left = rest; left !== undefined && left.length > 0; left = this.#rest) {
      this.#rest = undefined;
      this.#write(left, false);
    }
    this.#response = undefined;
    response?.cork(() => response.end());
  }

  cut(): void {
    const response = this.#response;
    this.#response = undefined;
    response?.close();
  }

  markClosed(): void {
    this.#response = undefined;
  }
}
