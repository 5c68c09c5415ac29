/**
 * One open event stream: how to write to it without a hazard of uWebSockets.js, and what the fan-out keeps of it. There
 * may be tens of thousands, so all of it is one small object.
 */
import type { AccessRequest } from '../access/request.ts';
import { VIEW_COUNT, type View, viewAt } from '../stats/view.ts';

/** The part of uWebSockets.js's response that a stream uses. */
export interface StreamResponse {
  /** False: it did not fit, or something written before did not; it is kept in user memory then. */
  write(chunk: Buffer): boolean;
  /** What is written in `body` leaves with one `send`. */
  cork(body: () => void): unknown;
  end(): unknown;
  close(): unknown;
}

const END_OF_EVENT = Buffer.from('\n');
const SILENCE = Buffer.from(':\n\n');

/**
 * The most bytes of a line that leave in one cork. The cork's buffer holds 16 KiB, and what would overflow it is lost
 * when the kernel does not take the buffer at that moment: so nothing ever overflows it. The rest is for chunk marks.
 */
const MOST_CORKED_BYTES = 16 * 1024 - 64;
/** As MOST_CORKED_BYTES, where headers and earlier answers on the connection may be in the buffer too. */
const MOST_FIRST_BYTES = 8 * 1024;

/** A line that is too long for one cork, in pieces. */
interface Rest {
  readonly pieces: readonly Buffer[];
  readonly next: number;
}

const NOTHING_LEFT: Rest = { pieces: [], next: 0 };

function piecesOf(line: Buffer, firstBytes: number): readonly Buffer[] {
  const pieces = [line.subarray(0, firstBytes)];
  for (let at = firstBytes; at < line.length; at += MOST_CORKED_BYTES)
    pieces.push(line.subarray(at, at + MOST_CORKED_BYTES));
  return pieces;
}

// The pieces of the long line that was sent last: all its subscribers share them.
let longLine: Buffer | undefined;
let longPieces: readonly Buffer[] = [];

function sharedPiecesOf(line: Buffer): readonly Buffer[] {
  if (line === longLine) return longPieces;
  longPieces = piecesOf(line, MOST_CORKED_BYTES);
  longLine = line;
  return longPieces;
}

// One cork callback for all streams, with what it needs in variables: no closure a subscriber a tick.
let corkedResponse: StreamResponse;
let corkedBytes: Buffer;
let isLastPiece = true;
let fitted = true;

function writeCorked(): void {
  fitted = corkedResponse.write(corkedBytes);
  // A chunk of its own: a client that holds a chunk back until the next one begins still sees the line at once.
  if (isLastPiece) fitted = corkedResponse.write(END_OF_EVENT);
}

function writeComment(): void {
  fitted = corkedResponse.write(SILENCE);
}

function writeNothing(): void {}

function writePiece(response: StreamResponse, pieces: readonly Buffer[], at: number): boolean {
  corkedResponse = response;
  corkedBytes = pieces[at] ?? END_OF_EVENT;
  isLastPiece = at === pieces.length - 1;
  response.cork(writeCorked);
  return fitted;
}

/** Writes `pieces` from the one at `from` on; what was not begun when the socket was full, if it was. */
function writePieces(response: StreamResponse, pieces: readonly Buffer[], from: number): Rest | undefined {
  for (let next = from; next < pieces.length; next++)
    if (!writePiece(response, pieces, next))
      return next + 1 < pieces.length ? { pieces, next: next + 1 } : NOTHING_LEFT;
  return undefined;
}

/**
 * What is written but does not fit into the kernel's buffer is kept by uWebSockets.js, which tells of it only at the
 * next write: a full socket thus holds two events at most (of a long one two pieces), and is skipped from then on.
 */
export class StreamSocket {
  /** Who it is, for judging it again after a reload. */
  readonly client: AccessRequest;
  /** The newest sample it needs no more: sent, or skipped because it joined a moment before. */
  sent: number;
  /** When something was last written to it; whole seconds, which V8 keeps without an object of their own. */
  writtenAt: number;
  /** Its view's index and its place in that view's list, in one number: a private method or a field is 8 bytes more. */
  #slot: number;
  #response: StreamResponse | undefined;
  /** Set while the socket is full. */
  #rest: Rest | undefined;

  constructor(response: StreamResponse, view: View, client: AccessRequest, sent: number, writtenAt: number) {
    this.#response = response;
    this.#slot = view.index;
    this.client = client;
    this.sent = sent;
    this.writtenAt = writtenAt;
  }

  get view(): View {
    return viewAt(this.#slot % VIEW_COUNT);
  }

  /** Its place in its view's list. */
  get place(): number {
    return Math.floor(this.#slot / VIEW_COUNT);
  }

  set place(place: number) {
    this.#slot = place * VIEW_COUNT + (this.#slot % VIEW_COUNT);
  }

  /** A write did not fit: nothing more is written until the socket drains. */
  get isFull(): boolean {
    return this.#rest !== undefined;
  }

  /** Sends one event: its line (`data: …\n`) and the blank line after it. Nothing is sent while full or closed. */
  send(line: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    if (line.length > MOST_CORKED_BYTES) {
      this.#rest = writePieces(this.#response, sharedPiecesOf(line), 0);
      return;
    }
    corkedResponse = this.#response;
    corkedBytes = line;
    isLastPiece = true;
    corkedResponse.cork(writeCorked);
    if (!fitted) this.#rest = NOTHING_LEFT;
  }

  /**
   * The first event, inside the cork that holds the headers. False: it is long, and `goOn` must be called in a later
   * turn for the rest; until then the socket is full.
   */
  sendFirst(line: Buffer): boolean {
    if (line.length <= MOST_FIRST_BYTES) {
      this.send(line);
      return true;
    }
    const pieces = piecesOf(line, MOST_FIRST_BYTES);
    const [first] = pieces;
    if (first !== undefined) this.#response?.write(first);
    this.#rest = { pieces, next: 1 };
    return false;
  }

  /** The kernel has room again. False: the rest of a long event filled it anew. */
  goOn(): boolean {
    const rest = this.#rest;
    if (this.#response === undefined || rest === undefined) return true;
    this.#rest = writePieces(this.#response, rest.pieces, rest.next);
    return this.#rest === undefined;
  }

  /** Hands what uWebSockets.js kept to the kernel, as far as it fits, and sets its 10 s timer anew if it doesn't. */
  flush(): void {
    this.#response?.cork(writeNothing);
  }

  /** A comment, so that the connection is not silent. */
  sendComment(): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    corkedResponse = this.#response;
    corkedResponse.cork(writeComment);
    if (!fitted) this.#rest = NOTHING_LEFT;
  }

  /** Ends the stream, after the events that were begun. */
  end(): void {
    const rest = this.#rest;
    const response = this.#response;
    if (response === undefined) return;
    // However full it is: this is the last that is written.
    if (rest !== undefined)
      for (let next = rest.next; next < rest.pieces.length; next++) writePiece(response, rest.pieces, next);
    this.#response = undefined;
    response.cork(() => response.end());
  }

  /** Cuts the connection at once. */
  cut(): void {
    const response = this.#response;
    this.#response = undefined;
    response?.close();
  }

  /** The connection has closed: the response must not be touched again. */
  markClosed(): void {
    this.#response = undefined;
  }
}
