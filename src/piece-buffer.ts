/**
 * Joins bytes that arrive in pieces, in one buffer that doubles. A list of pieces costs about 100 bytes for a piece of one
 * byte, and to join them at every piece copies all bytes each time.
 */

/** Least size of the buffer. */
const FIRST_BYTES = 512;
/** The JavaScript and native objects of a buffer beside its bytes. */
const OVERHEAD_BYTES = 256;
/** Shorter pieces are copied here, because a call of Node's copy takes longer. */
const SHORT_BYTES = 16;

export class PieceBuffer {
  #buffer: Buffer | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Memory that it takes. */
  get bufferedBytes(): number {
    return this.#buffer === undefined ? 0 : this.#buffer.length + OVERHEAD_BYTES;
  }

  /** The bytes so far: a view, valid until the next call. */
  get bytes(): Buffer {
    return (this.#buffer ?? EMPTY).subarray(0, this.#length);
  }

  /** Copies the part of `piece` from `start` to `end`. */
  add(piece: Buffer, start = 0, end = piece.length): void {
    const buffer = this.#reserve(this.#length + end - start);
    if (end - start < SHORT_BYTES)
      for (let at = start; at < end; at++) buffer[this.#length + at - start] = piece[at] ?? 0;
    else piece.copy(buffer, this.#length, start, end);
    this.#length += end - start;
  }

  /** Returns the bytes, in a buffer without spare room, and is empty. */
  take(): Buffer {
    const { bytes } = this;
    const buffer = this.#buffer ?? EMPTY;
    this.clear();
    if (bytes.length === buffer.length) return buffer;
    // Slow: a slice of Node's pool would keep 8 KiB of it as long as it is kept.
    const exact = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(exact);
    return exact;
  }

  clear(): void {
    this.#buffer = undefined;
    this.#length = 0;
  }

  /** The buffer, with room for `bytes` in all. */
  #reserve(bytes: number): Buffer {
    const before = this.#buffer;
    if (before !== undefined && before.length >= bytes) return before;
    const size = Math.max(bytes, before === undefined ? FIRST_BYTES : 2 * before.length);
    const buffer = Buffer.allocUnsafeSlow(size);
    before?.copy(buffer, 0, 0, this.#length);
    this.#buffer = buffer;
    return buffer;
  }
}

const EMPTY = Buffer.alloc(0);
