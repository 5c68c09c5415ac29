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
  close(): unknown;
}

const END_OF_EVENT = Buffer.from('\n');
const SILENCE = Buffer.from(':\n\n');

/**
 * Maximum bytes of a line in one cork. The cork's buffer holds 16 KiB, and bytes that overflow it are lost when the
 * kernel does not take the buffer at that moment: so nothing may overflow it. The rest is for chunk marks.
 */
const MAX_CORKED_BYTES = 16 * 1024 - 64;
/** As MAX_CORKED_BYTES, where headers and earlier answers on the connection may be in the buffer too. */
const MAX_FIRST_BYTES = 8 * 1024;

/**
 * Written first where earlier bytes may have been kept: these fit only if all bytes before them did. Only then the rest
 * follows, so that little is kept for a socket that takes little.
 */
const PROBE_BYTES = 16;

/** The rest of an event, its blank line included; empty: nothing is left, but the socket is full. */
type Rest = Buffer;
const NOTHING_LEFT: Rest = Buffer.alloc(0);

// The last event that was needed as a whole: all streams that need it share it.
let lastLine: Buffer | undefined;
let lastWhole = NOTHING_LEFT;

function wholeOf(line: Buffer): Rest {
  if (line === lastLine) return lastWhole;
  lastWhole = Buffer.concat([line, END_OF_EVENT]);
  lastLine = line;
  return lastWhole;
}

// One cork callback for all streams, with its arguments in variables: no closure per subscriber and tick.
let corkedResponse: StreamResponse;
let corkedBytes: Buffer;
/** How many bytes were written. */
let takenBytes = 0;
let fitted = true;

function writeEvent(): void {
  corkedResponse.write(corkedBytes);
  // A chunk of its own: uWebSockets.js completes a chunk only with the next one, and the line must arrive at once.
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
  const end = Math.min(MAX_CORKED_BYTES, textBytes);
  if (end > takenBytes) corkedResponse.write(corkedBytes.subarray(takenBytes, end));
  takenBytes = end;
  if (end < textBytes) return;
  fitted = corkedResponse.write(END_OF_EVENT);
  takenBytes += END_OF_EVENT.length;
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

  /** The maximum of what uWebSockets.js keeps for it while it is full, where the last event had `lineBytes`. */
  keptBytes(lineBytes: number): number {
    return Math.min(2 * lineBytes, MAX_CORKED_BYTES);
  }

  /** A write did not fit: nothing more is written until the socket drains. */
  get isFull(): boolean {
    return this.#rest !== undefined;
  }

  /** Sends one event: its line (`data: …\n`) and the blank line after it. Nothing is sent while full or closed. */
  send(line: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    if (line.length > MAX_CORKED_BYTES) {
      this.#rest = writeRest(this.#response, wholeOf(line));
      return;
    }
    corkedResponse = this.#response;
    corkedBytes = line;
    corkedResponse.cork(writeEvent);
    if (!fitted) this.#rest = NOTHING_LEFT;
  }

  /** As `send`, for a socket that has just drained: it may be full again before all kept bytes have left. */
  sendDrained(line: Buffer): void {
    if (this.#response === undefined || this.#rest !== undefined) return;
    this.#rest = writeRest(this.#response, wholeOf(line));
  }

  /**
   * The first event, inside the cork that holds the headers. False: it is long, and `goOn` must be called in a later
   * turn for the rest; until then the socket is full.
   */
  sendFirst(line: Buffer): boolean {
    if (line.length <= MAX_FIRST_BYTES) {
      this.send(line);
      return true;
    }
    this.#response?.write(line.subarray(0, MAX_FIRST_BYTES));
    this.#rest = wholeOf(line).subarray(MAX_FIRST_BYTES);
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

  /** Passes bytes kept by uWebSockets.js to the kernel, as far as they fit; otherwise restarts its 10 s timer. */
  flush(): void {
    this.#response?.cork(writeNothing);
  }

  /** Sends a comment, so that the connection is not silent. */
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
