/**
 * One open event stream: writes to it safely, and holds the fan-out's state of it. There may be tens of thousands, so
 * each is one small object.
 */
import { VIEW_COUNT, type View, viewAt } from '../../stats/view.ts';
import type { Caller } from '../clients/caller.ts';
import type { StreamSocket } from '../engine.ts';

/** The part of uWebSockets.js's response that a stream uses. */
export interface StreamResponse {
  /** False: this chunk or an earlier one did not fit; it is kept in user memory then. */
  write(chunk: Buffer): boolean;
  /** Everything that `body` writes leaves with one `send`. */
  cork(body: () => void): unknown;
  end(): unknown;
  /** Stops the response's timer, and polling the connection. Without it `resume` stops polling for good. */
  pause(): unknown;
  /** Polls again as before `pause`, and starts the timer anew. */
  resume(): unknown;
  close(): unknown;
}

/**
 * A comment of the event stream, which its readers ignore. It follows each event as a chunk of its own, because
 * uWebSockets.js writes the CRLF that completes a chunk only with the next chunk: readers of whole chunks would get each
 * event an interval late.
 */
const COMMENT = Buffer.from(':\n\n');

/**
 * Maximum bytes of events in one cork. The cork's buffer holds 16 KiB, and bytes that overflow it are lost when the
 * kernel does not take the buffer at that moment: so nothing may overflow it. The rest is for the marks of a probe (6
 * bytes), of the piece after it (8), and the comment with its mark (8).
 */
const MAX_CORKED_BYTES = 16 * 1024 - 64;
/** As MAX_CORKED_BYTES, where headers and earlier answers on the connection may be in the buffer too. */
const MAX_FIRST_BYTES = 8 * 1024;

/**
 * Written first where earlier bytes may have been kept: these fit only if all bytes before them did. Only then the rest
 * follows, so that little is kept for a socket that takes little.
 */
const PROBE_BYTES = 16;

/** The rest of an event; empty: nothing is left, but the socket is full. */
type Rest = Buffer;
const NOTHING_LEFT: Rest = Buffer.alloc(0);

// One cork callback for all streams, with its arguments in variables: no closure per subscriber and tick.
let corkedResponse: StreamResponse;
let corkedBytes: Buffer;
/** How many bytes were written. */
let takenBytes = 0;
let fitted = true;

function writeEvent(): void {
  corkedResponse.write(corkedBytes);
  fitted = corkedResponse.write(COMMENT);
}

function writeComment(): void {
  fitted = corkedResponse.write(COMMENT);
}

function writeNothing(): void {}

function writePiece(): void {
  const { length } = corkedBytes;
  takenBytes = Math.min(PROBE_BYTES, length);
  fitted = corkedResponse.write(corkedBytes.subarray(0, takenBytes));
  const end = Math.min(MAX_CORKED_BYTES, length);
  if (fitted && end > takenBytes) {
    corkedResponse.write(corkedBytes.subarray(takenBytes, end));
    takenBytes = end;
  }
  // Also after a probe that was kept, if it was all: nothing else would complete its chunk before the next event.
  if (takenBytes === length) fitted = corkedResponse.write(COMMENT);
}

/** Writes `rest` as far as it fits, each piece with one `send`; returns the rest, undefined when all of it fitted. */
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
 * uWebSockets.js keeps bytes that do not fit into the kernel's buffer, and reports it only at the next write: a full
 * socket thus holds at most two events, and is skipped from then on.
 */
export class UwsStream implements StreamSocket {
  /** For judging it again after a reload. */
  readonly caller: Caller;
  /** Number of the newest sample this stream has had (or may skip, having just joined). */
  sent: number;
  /** Time of the last write, in whole seconds, which V8 keeps without an object of their own. */
  writtenAt: number;
  /** Its view's index and its place in that view's list, in one number: another field would be 8 bytes more. */
  #slot: number;
  #response: StreamResponse | undefined;
  /** Set while the socket is full. */
  #rest: Rest | undefined;

  constructor(response: StreamResponse, view: View, caller: Caller, sent: number, writtenAt: number) {
    this.#response = response;
    this.#slot = view.index;
    this.caller = caller;
    this.sent = sent;
    this.writtenAt = writtenAt;
  }

  get view(): View {
    return viewAt(this.#slot % VIEW_COUNT);
  }

  get address(): string {
    return this.caller.address;
  }

  get isStream(): boolean {
    return true;
  }

  /** Its place in its view's list. */
  get place(): number {
    return Math.floor(this.#slot / VIEW_COUNT);
  }

  set place(place: number) {
    this.#slot = place * VIEW_COUNT + (this.#slot % VIEW_COUNT);
  }

  /** The maximum of what uWebSockets.js keeps for it while it is full, where the last event had `eventBytes`. */
  keptBytes(eventBytes: number): number {
    return Math.min(2 * eventBytes, MAX_CORKED_BYTES);
  }

  /** A write did not fit: nothing more is written until the socket drains. */
  get isFull(): boolean {
    return this.#rest !== undefined;
  }

  /** Sends one event (`data: …\n\n`) and the comment after it. Nothing is sent while full or closed. */
  send(event: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    if (event.length > MAX_CORKED_BYTES) {
      this.#rest = writeRest(this.#response, event);
      return;
    }
    corkedResponse = this.#response;
    corkedBytes = event;
    corkedResponse.cork(writeEvent);
    if (!fitted) this.#rest = NOTHING_LEFT;
  }

  /** As `send`, for a socket that has just drained: it may be full again before all kept bytes have left. */
  sendDrained(event: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    this.#rest = writeRest(this.#response, event);
  }

  /**
   * The first event, inside the cork that holds the headers. False: it is long, and `goOn` must be called in a later
   * turn for the rest; until then the socket is full.
   */
  sendFirst(event: Buffer): boolean {
    if (event.length <= MAX_FIRST_BYTES) {
      this.send(event);
      return true;
    }
    this.#response?.write(event.subarray(0, MAX_FIRST_BYTES));
    this.#rest = event.subarray(MAX_FIRST_BYTES);
    return false;
  }

  /** The kernel has room again. False: the rest of a long event has filled it again. */
  goOn(): boolean {
    const rest = this.#rest;
    this.#rest = undefined;
    if (this.#response !== undefined && rest !== undefined && rest.length > 0)
      this.#rest = writeRest(this.#response, rest);
    return this.#rest === undefined;
  }

  /**
   * Passes bytes kept by uWebSockets.js to the kernel, as far as they fit. A failed write has started a timer of 10 s,
   * which the kernel's report of room stops: a full socket whose kept bytes have all fitted gets neither another failed
   * write nor, while its peer reads nothing, that report, and would be cut before its 20 s. Pausing starts it anew.
   */
  flush(): void {
    const response = this.#response;
    if (response === undefined) return;
    response.cork(writeNothing);
    if (this.#rest === undefined) return;
    response.pause();
    response.resume();
  }

  /** Sends a comment, so that the connection is not silent. A reader of whole chunks gets the previous comment. */
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
    // Even to a full socket: these are the last bytes.
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

  /** The connection has closed: the response must not be used any more. */
  markClosed(): void {
    this.#response = undefined;
  }
}
