/** The fan-out: every subscriber of /api/stream, the newest sample to each, in slices. */
import type { AccessRequest } from '../../access/request.ts';
import type { Encoded, View } from '../../stats/view.ts';
import { VIEW_COUNT } from '../../stats/view.ts';
import { type Headers, statusLine } from '../reply.ts';
import type { Exchange, StreamEventHandler } from '../uws/exchange.ts';
import type { StreamSocket } from '../uws/stream.ts';

export interface FanoutOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Runs `slice` in a later turn of the event loop, after waiting requests. */
  readonly defer: (slice: () => void) => void;
  readonly onSubscribed: (view: View) => void;
  readonly onUnsubscribed: (view: View) => void;
}

export const STREAM_HEADERS: Headers = [
  ['Content-Type', 'text/event-stream'],
  ['Cache-Control', 'no-cache, no-transform'],
  ['X-Accel-Buffering', 'no'],
];

/** How long the fan-out may hold the event loop at a time. */
const SLICE_MS = 4;
/** The clock is read once in so many writes: a write costs about 10 µs. */
const WRITES_PER_LOOK = 32;
/** After so long without a byte a comment keeps proxies from closing the stream. */
const SILENCE_SECONDS = 15;
/** How often `tend` must be called: well within the 10 s (± 2) after which uWebSockets.js cuts a full socket. */
export const TEND_MS = 3000;

/** Where a pass over all subscribers stands: each list from its end, so that swap-remove loses nobody. */
interface Pass {
  view: number;
  place: number;
}

const START: Readonly<Pass> = { view: 0, place: Number.MAX_SAFE_INTEGER };

export class Fanout {
  readonly #options: FanoutOptions;
  readonly #lists: StreamSocket[][] = Array.from({ length: VIEW_COUNT }, () => []);
  #size = 0;
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: Encoded | undefined;
  #number = 0;
  /** The running distribution. */
  #distribution: Pass | undefined;
  /** A newer sample came while one was being distributed: who had got the older one is served in another pass. */
  #runsAgain = false;
  #tending: Pass | undefined;
  #isClosed = false;
  /** A full socket without room for so long is cut; Infinity where that is judged by what is acknowledged. */
  stallLimitSeconds = Number.POSITIVE_INFINITY;

  /** Both of uWebSockets.js's events: only the one that tells of room passes an offset. */
  readonly #onEvent: StreamEventHandler;

  constructor(options: FanoutOptions) {
    this.#options = options;
    const drain = (socket: StreamSocket) => this.#drain(socket);
    const forget = (socket: StreamSocket) => {
      socket.markClosed();
      this.#remove(socket);
    };
    this.#onEvent = function onEvent(this: StreamSocket, offset?: number) {
      if (offset === undefined) forget(this);
      else drain(this);
      return true;
    };
  }

  get size(): number {
    return this.#size;
  }

  /** Answers with the stream's headers and `encoded`, then keeps the subscriber. `skipsNext`: the next tick is near. */
  open(
    exchange: Exchange,
    view: View,
    encoded: Encoded,
    headers: Headers,
    client: AccessRequest,
    skipsNext: boolean,
  ): void {
    const opened = exchange.startStream({
      status: statusLine(200),
      headers: [...STREAM_HEADERS, ...headers],
      line: encoded.line(view),
      view,
      client,
      sent: skipsNext ? this.#number + 1 : this.#number,
      writtenAt: this.#seconds(),
      onEvent: this.#onEvent,
    });
    if (opened === undefined) return;
    const { socket, isWhole } = opened;
    const list = this.#listAt(view.index);
    socket.place = list.length;
    list.push(socket);
    this.#size++;
    this.#options.onSubscribed(view);
    if (this.#isClosed) this.#end(socket);
    else if (!isWhole) this.#options.defer(() => this.#drain(socket));
  }

  /** Sends `encoded` to every subscriber. A distribution that is still under way goes on with it. */
  publish(encoded: Encoded): void {
    this.#newest = encoded;
    this.#number++;
    this.#runsAgain = this.#distribution !== undefined;
    if (this.#runsAgain) return;
    this.#distribution = { ...START };
    this.#distribute();
  }

  /** Sends a comment to whoever has heard nothing for 15 s, and looks after sockets that are full. */
  tend(): void {
    if (this.#tending !== undefined) return;
    this.#tending = { ...START };
    this.#tendOn();
  }

  /** Cuts every subscriber that `passes` no longer lets through. */
  judgeAgain(passes: (client: AccessRequest) => boolean): void {
    for (const list of this.#lists)
      for (const socket of [...list]) {
        if (passes(socket.client)) continue;
        this.#remove(socket);
        socket.cut();
      }
  }

  /** Ends every stream on a frame boundary; how many of them have yet to take what they were sent before. */
  close(): number {
    this.#isClosed = true;
    let full = 0;
    for (const list of this.#lists)
      for (const socket of [...list]) {
        if (socket.isFull) full++;
        this.#end(socket);
      }
    return full;
  }

  #drain(socket: StreamSocket): void {
    if (!socket.goOn()) return;
    if (this.#newest === undefined || socket.sent >= this.#number) {
      // uWebSockets.js hands on what it kept only when something is written.
      socket.flush();
      return;
    }
    socket.sent = this.#number;
    socket.writtenAt = this.#seconds();
    socket.sendDrained(this.#newest.line(socket.view));
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  #listAt(index: number): StreamSocket[] {
    const list = this.#lists[index];
    if (list === undefined) throw new RangeError(`no view ${index}`);
    return list;
  }

  #distribute(): void {
    const encoded = this.#newest;
    const pass = this.#distribution;
    if (encoded === undefined || pass === undefined) return;
    const number = this.#number;
    const seconds = this.#seconds();
    const isDone = this.#walk(pass, (socket) => {
      if (socket.sent >= number || socket.isFull) return false;
      socket.sent = number;
      socket.writtenAt = seconds;
      socket.send(encoded.line(socket.view));
      return true;
    });
    if (isDone) {
      // A new pass begins only now: under overload the beginnings of the lists would never be reached otherwise.
      this.#distribution = this.#runsAgain ? { ...START } : undefined;
      this.#runsAgain = false;
    }
    if (this.#distribution !== undefined) this.#options.defer(() => this.#distribute());
  }

  #tendOn(): void {
    const pass = this.#tending;
    if (pass === undefined) return;
    const seconds = this.#seconds();
    const isDone = this.#walk(pass, (socket) => {
      const silentFor = seconds - socket.writtenAt;
      if (socket.isFull) {
        if (silentFor < this.stallLimitSeconds) socket.flush();
        else this.#cut(socket);
        return true;
      }
      if (silentFor >= SILENCE_SECONDS) {
        socket.writtenAt = seconds;
        socket.sendComment();
        return true;
      }
      // It may be full without our knowing: uWebSockets.js tells of a failed write only at the next one.
      if (silentFor * 1000 >= TEND_MS) socket.flush();
      return silentFor * 1000 >= TEND_MS;
    });
    if (isDone) this.#tending = undefined;
    else this.#options.defer(() => this.#tendOn());
  }

  /** Goes on with `pass` until a slice's time is up; true when it is through. `visit` tells whether it cost anything. */
  #walk(pass: Pass, visit: (socket: StreamSocket) => boolean): boolean {
    const { now } = this.#options;
    const endsAt = now() + SLICE_MS;
    let writes = 0;
    for (; pass.view < VIEW_COUNT; pass.view++, pass.place = START.place) {
      const list = this.#listAt(pass.view);
      for (let place = Math.min(pass.place, list.length - 1); place >= 0; place--) {
        const socket = list[place];
        if (socket === undefined || !visit(socket)) continue;
        if (++writes % WRITES_PER_LOOK !== 0 || now() < endsAt) continue;
        pass.place = place - 1;
        return false;
      }
    }
    return true;
  }

  #cut(socket: StreamSocket): void {
    this.#remove(socket);
    socket.cut();
  }

  #end(socket: StreamSocket): void {
    this.#remove(socket);
    socket.end();
  }

  #remove(socket: StreamSocket): void {
    const { view, place } = socket;
    const list = this.#listAt(view.index);
    if (list[place] !== socket) return;
    const last = list.pop();
    if (last !== undefined && last !== socket) {
      last.place = place;
      list[place] = last;
    }
    this.#size--;
    this.#options.onUnsubscribed(view);
  }
}
