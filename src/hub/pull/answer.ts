/** Parses one answer of HTTP/1.1, split anywhere, as an agent sends it: strictly, and with limits. */
import { PieceBuffer } from '../../piece-buffer.ts';

export interface AnswerHead {
  readonly status: number;
  /** By lower-case name. Of a name that stands twice only the last value: nothing here depends on such. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface AnswerSink {
  onHead(head: AnswerHead): void;
  /** The part of `bytes` from `start` to `end` is of the body; valid during the call only. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** The answer is complete. */
  onEnd(): void;
}

/** The bytes are no answer that the parser takes; the message says why, without any byte of it. */
export class BadAnswer extends Error {}

/** Far above any head of the service, and of proxies. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t -~]*)?$/;
// The blanks before a value are taken all or not at all: else a line of 16,000 blanks that ends in a control character
// would be tried in 16,000 ways.
const HEADER =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?![ \t])((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)[ \t]*$/;
/** More would be no number. */
const MAX_LENGTH_DIGITS = 15;
const MAX_SIZE_DIGITS = 8;
const CR = 13;
const LF = 10;

const STATES = {
  head: 0,
  /** Digits of a chunk's size; `#left` is its value. */
  size: 1,
  /** LF after the size. */
  sizeEnd: 2,
  chunk: 3,
  /** CR and LF after a chunk. */
  chunkCr: 4,
  chunkLf: 5,
  /** CR and LF after the last chunk: trailers are refused. */
  lastCr: 6,
  lastLf: 7,
  length: 8,
  untilClose: 9,
  done: 10,
} as const;
type State = (typeof STATES)[keyof typeof STATES];

/** The value of a hexadecimal digit, or -1. */
function hexOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

export class AnswerParser {
  readonly #sink: AnswerSink;
  readonly #hasBody: boolean;
  #state: State = STATES.head;
  #head: PieceBuffer | undefined;
  #left = 0;
  #digits = 0;

  /** `hasBody` false: the answer to a HEAD. */
  constructor(sink: AnswerSink, hasBody = true) {
    this.#sink = sink;
    this.#hasBody = hasBody;
  }

  get isDone(): boolean {
    return this.#state === STATES.done;
  }

  /** Takes `bytes`, of which it keeps none but those of an incomplete head. Throws BadAnswer. */
  push(bytes: Buffer): void {
    let at = this.#state === STATES.head ? this.#takeHead(bytes) : 0;
    while (at < bytes.length) at = this.#step(bytes, at);
  }

  /** The peer has closed. Throws BadAnswer unless the answer is complete. */
  close(): void {
    if (this.#state === STATES.done) return;
    if (this.#state !== STATES.untilClose) throw new BadAnswer('the connection ended within an answer');
    this.#finish();
  }

  #finish(): void {
    this.#state = STATES.done;
    this.#sink.onEnd();
  }

  /** Returns where the body begins; the length of `bytes` while the head is incomplete. */
  #takeHead(bytes: Buffer): number {
    const before = this.#head?.length ?? 0;
    // Copied: the caller's buffer is used again. No further than a head may reach.
    this.#head?.add(bytes, 0, Math.min(bytes.length, MAX_HEAD_BYTES + HEAD_END.length - before));
    const all = this.#head?.bytes ?? bytes;
    // Its end may have begun in the bytes before: what was searched is not searched again.
    const end = all.indexOf(HEAD_END, Math.max(0, before - HEAD_END.length + 1));
    if (end > MAX_HEAD_BYTES || (end < 0 && all.length > MAX_HEAD_BYTES))
      throw new BadAnswer('the head of an answer is too long');
    if (end < 0) {
      if (this.#head === undefined) {
        this.#head = new PieceBuffer();
        this.#head.add(bytes);
      }
      return bytes.length;
    }
    this.#head = undefined;
    this.#begin(all.toString('latin1', 0, end).split('\r\n'));
    return end + 4 - before;
  }

  #begin([statusLine = '', ...lines]: readonly string[]): void {
    const status = STATUS_LINE.exec(statusLine)?.[1];
    if (status === undefined) throw new BadAnswer('the status line is not that of an answer of HTTP/1.1');
    const headers = new Map<string, string>();
    for (const line of lines) {
      const [, name, value] = HEADER.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new BadAnswer('a header is malformed');
      const key = name.toLowerCase();
      if (headers.has(key) && (key === 'content-length' || key === 'transfer-encoding'))
        throw new BadAnswer('an answer has two framings');
      headers.set(key, value);
    }
    this.#state = this.#framingOf(Number(status), headers);
    this.#sink.onHead({ status: Number(status), headers });
    if (this.#state === STATES.length && this.#left === 0) this.#finish();
  }

  #framingOf(status: number, headers: ReadonlyMap<string, string>): State {
    const length = headers.get('content-length');
    const encoding = headers.get('transfer-encoding');
    if (length !== undefined && encoding !== undefined) throw new BadAnswer('an answer has two framings');
    if (!this.#hasBody || status === 204 || status === 304) return STATES.length;
    if (encoding !== undefined) {
      if (encoding.toLowerCase() !== 'chunked') throw new BadAnswer('an answer has an unknown framing');
      return STATES.size;
    }
    if (length === undefined) return STATES.untilClose;
    if (!/^\d+$/.test(length) || length.length > MAX_LENGTH_DIGITS)
      throw new BadAnswer('the length of an answer is no number');
    this.#left = Number(length);
    return STATES.length;
  }

  /** Takes what belongs to the present state, and returns where the next begins. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case STATES.chunk:
      case STATES.length: {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        this.#sink.onBody(bytes, at, end);
        if (this.#left > 0) return end;
        if (this.#state === STATES.length) this.#finish();
        else this.#state = STATES.chunkCr;
        return end;
      }
      case STATES.untilClose:
        this.#sink.onBody(bytes, at, bytes.length);
        return bytes.length;
      case STATES.size:
        return this.#takeSize(bytes[at] ?? 0, at);
      case STATES.sizeEnd:
        this.#expect(bytes[at], LF);
        this.#digits = 0;
        this.#state = this.#left === 0 ? STATES.lastCr : STATES.chunk;
        return at + 1;
      case STATES.chunkCr:
      case STATES.lastCr:
        this.#expect(bytes[at], CR);
        this.#state = this.#state === STATES.chunkCr ? STATES.chunkLf : STATES.lastLf;
        return at + 1;
      case STATES.chunkLf:
        this.#expect(bytes[at], LF);
        this.#state = STATES.size;
        return at + 1;
      case STATES.lastLf:
        this.#expect(bytes[at], LF);
        this.#finish();
        return at + 1;
      default:
        throw new BadAnswer('bytes follow the answer');
    }
  }

  #takeSize(byte: number, at: number): number {
    if (byte === CR && this.#digits > 0) {
      this.#state = STATES.sizeEnd;
      return at + 1;
    }
    const value = hexOf(byte);
    if (value < 0 || this.#digits === MAX_SIZE_DIGITS) throw new BadAnswer('a chunk has no valid size');
    this.#left = this.#digits === 0 ? value : this.#left * 16 + value;
    this.#digits++;
    return at + 1;
  }

  #expect(byte: number | undefined, wanted: number): void {
    if (byte !== wanted) throw new BadAnswer('a chunk does not end where it should');
  }
}
