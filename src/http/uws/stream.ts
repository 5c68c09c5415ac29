/**
 * One open event stream: how to write to it without a hazard of uWebSockets.js, and what the fan-out keeps of it. There
 * may be tens of thousands, so all of it is one small object.
 */
import type { AccessRequest } from '../../access/request.ts';
import { VIEW_COUNT, type View, viewAt } from '../../stats/view.ts';

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

/**
 * So many bytes go ahead where something may have been kept: whether they fitted tells whether all before them did.
 * Only then the others follow, so that little is kept of a socket that takes little.
 */
const PROBE_BYTES = 16;

/** What is left of an event, its blank line included; empty: nothing, but the socket is full. */
type Rest = Buffer;
const NOTHING_LEFT: Rest = Buffer.alloc(0);

// The last event that was asked for as a whole: all who need it share it.
let lastLine: Buffer | undefined;
let lastWhole = NOTHING_LEFT;

function wholeOf(line: Buffer): Rest {
  if (line === lastLine) return lastWhole;
  lastWhole = Buffer.concat([line, END_OF_EVENT]);
  lastLine = line;
  return lastWhole;
}

// One cork callback for all streams, with what it needs in variables: no closure a subscriber a tick.
let corkedResponse: StreamResponse;
let corkedBytes: Buffer;
/** How many of them were written. */
let takenBytes = 0;
let fitted = true;

function writeEvent(): void {
  corkedResponse.write(corkedBytes);
  // A chunk of its own: a client that holds a chunk back until the next one begins still sees the line at once.
  fitted = corkedResponse.write(END_OF_EVENT);
}

function writeComment(): void {
  fitted = corkedResponse.write(SILENCE);
}

function writeNothing(): void {}

function writePiece(): void {
  const textBytes = corkedBytes.length - END_OF_EVENT.length;
  takenBytes = Math.min(PROBE_BYTES, textBytes);
  fitted = takenBytes === 0 || corkedResponse.write(corkedBytes.subarray(0, takenBytes));
  if (!fitted) return;
  const end = Math.min(MOST_CORKED_BYTES, textBytes);
  if (end > takenBytes) corkedResponse.write(corkedBytes.subarray(takenBytes, end));
  takenBytes = end;
  if (end < textBytes) return;
  fitted = corkedResponse.write(END_OF_EVENT);
  takenBytes += END_OF_EVENT.length;
}

/** Writes `rest` as far as it fits, each piece with one `send`; what is left then, undefined when it all fitted. */
function writeRest(response: StreamResponse, rest: Rest): Rest | undefined {
  let left = rest;
  do {
    corkedResponse = response;
    corkedBytes = left;
    response.cork(writePiece);
    left = left.subarray(takenBytes);
  } while (fitted && left.length > 0);
  if (left.length > 0) return left;
  return fitted ? undefined : NOTHING_LEFT;
}

/**
 * What is written but does not fit into the kernel's buffer is kept by uWebSockets.js, which tells of it only at the
 * next write: a full socket thus holds two events at most, and is skipped from then on.
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
      this.#rest = writeRest(this.#response, wholeOf(line));
      return;
    }
    corkedResponse = this.#response;
    corkedBytes = line;
    corkedResponse.cork(writeEvent);
    if (!fitted) this.#rest = NOTHING_LEFT;
  }

  /** As `send`, for a socket that has just drained: it may be full again before all that was kept has left. */
  sendDrained(line: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    this.#rest = writeRest(this.#response, wholeOf(line));
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
    this.#response?.write(line.subarray(0, MOST_FIRST_BYTES));
    this.#rest = wholeOf(line).subarray(MOST_FIRST_BYTES);
    return false;
  }

  /** The kernel has room again. False: the rest of a long event filled it anew. */
  goOn(): boolean {
    const rest = this.#rest;
    this.#rest = undefined;
    if (this.#response !== undefined && rest !== undefined && rest.length > 0)
      this.#rest = writeRest(this.#response, rest);
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
    for (let left = rest; left !== undefined && left.length > 0; ) left = writeRest(response, left);
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
