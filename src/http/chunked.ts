/** Takes the framing of a chunked body (RFC 9112, 7.1) away, split anywhere: strictly, and with limits. */

export interface ChunkSink {
  /** The part of `bytes` from `start` to `end` is of the body; valid during the call only. */
  onBody(bytes: Buffer, start: number, end: number): void;
}

/** The bytes are not a chunked body; the message says why, without any byte of it. */
export class BadChunk extends Error {}

const MAX_SIZE_DIGITS = 8;
/** Maximum of all chunk extensions and trailers together; both are ignored. */
const MAX_IGNORED_BYTES = 4096;
const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const SEMICOLON = 59;

const STATES = {
  /** Digits of a size; `#left` is its value. */
  size: 0,
  extension: 1,
  /** LF after a size. */
  sizeLf: 2,
  chunk: 3,
  /** CR and LF after a chunk. */
  chunkCr: 4,
  chunkLf: 5,
  /** The beginning of a line after the last chunk: a trailer, or CR and LF. */
  line: 6,
  trailer: 7,
  trailerLf: 8,
  lastLf: 9,
  done: 10,
} as const;
type State = (typeof STATES)[keyof typeof STATES];

/** The value of a hexadecimal digit, or -1. */
function hexOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

export class ChunkedReader {
  readonly #sink: ChunkSink;
  #state: State = STATES.size;
  #left = 0;
  #digits = 0;
  #ignored = 0;

  constructor(sink: ChunkSink) {
    this.#sink = sink;
  }

  /** The last chunk and the line after it have arrived. */
  get isDone(): boolean {
    return this.#state === STATES.done;
  }

  /** Takes `bytes` from `at` on, and returns where the body ends in them. Throws BadChunk. */
  push(bytes: Buffer, at = 0): number {
    let next = at;
    while (next < bytes.length && this.#state !== STATES.done)
      next =
        this.#state === STATES.chunk ? this.#takeBody(bytes, next) : this.#takeByte(bytes[next] ?? 0, next);
    return next;
  }

  #takeBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = STATES.chunkCr;
    this.#sink.onBody(bytes, at, end);
    return end;
  }

  #takeByte(byte: number, at: number): number {
    switch (this.#state) {
      case STATES.size:
        this.#takeSize(byte);
        break;
      case STATES.extension:
        this.#ignoreLine(byte, STATES.sizeLf);
        break;
      case STATES.sizeLf:
        this.#expect(byte, LF, this.#left === 0 ? STATES.line : STATES.chunk);
        this.#digits = 0;
        break;
      case STATES.chunkCr:
        this.#expect(byte, CR, STATES.chunkLf);
        break;
      case STATES.chunkLf:
        this.#expect(byte, LF, STATES.size);
        break;
      case STATES.line:
        if (byte === CR) this.#state = STATES.lastLf;
        else this.#ignoreLine(byte, STATES.trailerLf, STATES.trailer);
        break;
      case STATES.trailer:
        this.#ignoreLine(byte, STATES.trailerLf);
        break;
      case STATES.trailerLf:
        this.#expect(byte, LF, STATES.line);
        break;
      default:
        this.#expect(byte, LF, STATES.done);
    }
    return at + 1;
  }

  #takeSize(byte: number): void {
    const value = hexOf(byte);
    if (value >= 0 && this.#digits < MAX_SIZE_DIGITS) {
      this.#left = this.#digits === 0 ? value : this.#left * 16 + value;
      this.#digits++;
      return;
    }
    if (this.#digits === 0 || value >= 0) throw new BadChunk('a chunk has no valid size');
    if (byte === CR) this.#state = STATES.sizeLf;
    else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#state = STATES.extension;
    else throw new BadChunk('a chunk has no valid size');
  }

  /** Ignores a byte of a line that ends with CR, and then LF. */
  #ignoreLine(byte: number, atEnd: State, within = this.#state): void {
    if (byte === LF || ++this.#ignored > MAX_IGNORED_BYTES)
      throw new BadChunk('a line is malformed or too long');
    this.#state = byte === CR ? atEnd : within;
  }

  #expect(byte: number, wanted: number, next: State): void {
    if (byte !== wanted) throw new BadChunk('a chunk does not end where it should');
    this.#state = next;
  }
}
