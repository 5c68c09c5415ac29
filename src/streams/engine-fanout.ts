/** The streams of a fan-out that the engine sends: the newest event to every one of them, in slices. */

import type { Caller } from '../access/caller.ts';
import { type Clock, type Defer, wholeSeconds } from '../clock.ts';
import type { Quota } from '../fairness/quota.ts';
import type { Counting } from '../http/clients/viewer-counts.ts';
import type { Exchange, StreamEventHandler, StreamSocket } from '../http/engine.ts';
import { type Headers, statusLine } from '../http/reply.ts';
import { beginPass, type Pass, StreamList } from './stream-list.ts';

/** A stream that is to be opened. */
export interface Opening {
  readonly exchange: Exchange;
  /** Beside STREAM_HEADERS. */
  readonly headers: Headers;
  /** The first event. */
  readonly event: Buffer;
  readonly caller: Caller;
  /** The next event is so near that the stream is not sent it. */
  readonly skipsNext: boolean;
}

/** An event that is sent to every stream of a fan-out: `data: <JSON>\n\n`. */
export interface StreamEvent {
  readonly bytes: Buffer;
  /** For a stream that missed the event before this one; absent: the same bytes. */
  readonly whole?: (() => Buffer) | undefined;
}

/** Shared by all fan-outs of a role. */
export interface EngineFanoutDeps {
  readonly clock: Clock;
  readonly defer: Defer;
  /** Counts what is kept for the streams. */
  readonly quota: Quota;
  /** Events that streams were sent since the start, and those that a full one was never sent. */
  readonly events: { sent: number; skipped: number };
  /** A full socket that takes nothing for this long is cut. */
  readonly stallLimitSeconds: number;
}

export const STREAM_HEADERS: Headers = [
  ['Content-Type', 'text/event-stream; charset=utf-8'],
  ['Cache-Control', 'no-cache, no-transform'],
  ['X-Accel-Buffering', 'no'],
];

/** After this long without a byte a comment keeps proxies from closing the stream. */
const SILENCE_SECONDS = 15;
/** From one `sweep` to the next: well within the 10 s (± 2) after which uWebSockets.js cuts a full socket. */
const SWEEP_MS = 3000;

export class EngineFanout {
  readonly #deps: EngineFanoutDeps;
  readonly #counts: Counting;
  readonly #streams: StreamList;
  /** The newest event and its number; events are numbered from 1. */
  #newest: StreamEvent | undefined;
  #number = 0;
  /** The running distribution. */
  #distribution: Pass | undefined;
  /** A newer event came mid-pass: sockets already served get it in another pass. */
  #runsAgain = false;
  /** The newest event is dropped after its distribution. */
  #isLast = false;
  #sweeping: Pass | undefined;
  #sweepTimer: unknown;
  #isClosed = false;

  /** Both events of a stream: only the one that reports room passes an offset. */
  readonly #onEvent: StreamEventHandler;

  /** `counts`: notified of each stream that opens or closes. */
  constructor(deps: EngineFanoutDeps, counts: Counting) {
    this.#deps = deps;
    this.#counts = counts;
    this.#streams = new StreamList(deps.clock.now);
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
    return this.#streams.size;
  }

  /** Replies with the stream's headers and its first event, then keeps the stream. */
  open({ exchange, headers, event, caller, skipsNext }: Opening): void {
    const { quota, events, defer } = this.#deps;
    const opened = exchange.startStream({
      status: statusLine(200),
      headers: [...STREAM_HEADERS, ...headers],
      event,
      caller,
      sent: skipsNext ? this.#number + 1 : this.#number,
      writtenAt: this.#seconds(),
      onEvent: this.#onEvent,
    });
    if (opened === undefined) return;
    const { socket, isWhole } = opened;
    events.sent++;
    this.#streams.add(socket);
    this.#counts.opened(caller);
    if (caller.buffered !== undefined) quota.set(socket, 0, caller.buffered);
    if (this.#sweepTimer === undefined) this.#sweepLater();
    if (this.#isClosed) this.#end(socket);
    else if (!isWhole) defer(() => this.#drain(socket));
  }

  publish(event: StreamEvent): void {
    this.#newest = event;
    this.#isLast = false;
    this.#number++;
    this.#runsAgain = this.#distribution !== undefined;
    if (this.#runsAgain) return;
    this.#distribution = beginPass();
    this.#distribute();
  }

  /** Drops the newest event when the running distribution has ended: for now none follows it. Full sockets miss it. */
  forget(): void {
    this.#isLast = true;
    if (this.#distribution === undefined) this.#newest = undefined;
  }

  /** Sends a comment to every stream that has been silent for 15 s, and looks after full sockets. Runs every 3 s. */
  sweep(): void {
    if (this.#sweeping !== undefined) return;
    this.#sweeping = beginPass();
    this.#continueSweep();
  }

  /** Cuts every stream whose caller `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void {
    for (const socket of this.#streams.all) if (!passes(socket.caller)) this.#cut(socket);
  }

  /** Ends every stream at the end of an event; returns how many still have to take what they were sent before. */
  close(): number {
    this.#isClosed = true;
    let full = 0;
    for (const socket of this.#streams.all) {
      if (socket.isFull) full++;
      this.#end(socket);
    }
    return full;
  }

  #drain(socket: StreamSocket): void {
    if (!socket.resume()) return;
    this.#deps.quota.set(socket, 0, socket.caller.buffered);
    if (this.#newest === undefined || socket.sent >= this.#number) {
      // uWebSockets.js passes on the bytes it kept only when something is written.
      socket.flush();
      return;
    }
    const bytes = this.#take(this.#newest, socket);
    socket.writtenAt = this.#seconds();
    socket.sendDrained(bytes);
    this.#reportBuffered(socket, bytes);
  }

  /** The newest event for `socket`, which gets none of those between it and its last one. */
  #take({ bytes, whole }: StreamEvent, socket: StreamSocket): Buffer {
    const { events } = this.#deps;
    const skipped = this.#number - socket.sent - 1;
    events.sent++;
    events.skipped += skipped;
    socket.sent = this.#number;
    return skipped > 0 && whole !== undefined ? whole() : bytes;
  }

  #reportBuffered(socket: StreamSocket, { length }: Buffer): void {
    if (socket.isFull) this.#deps.quota.set(socket, socket.bufferedBytes(length), socket.caller.buffered);
  }

  #seconds(): number {
    return wholeSeconds(this.#deps.clock.now());
  }

  #distribute(): void {
    const newest = this.#newest;
    const pass = this.#distribution;
    if (newest === undefined || pass === undefined) return;
    const number = this.#number;
    const seconds = this.#seconds();
    const isDone = this.#streams.walk(pass, (socket) => {
      if (socket.sent >= number || socket.isFull) return false;
      const bytes = this.#take(newest, socket);
      socket.writtenAt = seconds;
      socket.send(bytes);
      this.#reportBuffered(socket, bytes);
      return true;
    });
    if (isDone) {
      // A new pass begins only now: otherwise the beginning of the list would never be reached under overload.
      this.#distribution = this.#runsAgain ? beginPass() : undefined;
      this.#runsAgain = false;
    }
    if (this.#distribution !== undefined) this.#deps.defer(() => this.#distribute());
    else if (this.#isLast) this.forget();
  }

  #sweepLater(): void {
    this.#sweepTimer = this.#deps.clock.setTimer(() => {
      this.#sweepLater();
      this.sweep();
    }, SWEEP_MS);
  }

  #continueSweep(): void {
    const pass = this.#sweeping;
    if (pass === undefined) return;
    const seconds = this.#seconds();
    const isDone = this.#streams.walk(pass, (socket) => {
      const silentFor = seconds - socket.writtenAt;
      if (socket.isFull) {
        if (silentFor < this.#deps.stallLimitSeconds) socket.flush();
        else this.#cut(socket);
        return true;
      }
      if (silentFor >= SILENCE_SECONDS) {
        socket.writtenAt = seconds;
        socket.sendComment();
        return true;
      }
      // It may be full already: uWebSockets.js reports a failed write only at the next one.
      if (silentFor * 1000 >= SWEEP_MS) socket.flush();
      return silentFor * 1000 >= SWEEP_MS;
    });
    if (isDone) this.#sweeping = undefined;
    else this.#deps.defer(() => this.#continueSweep());
  }

  // In a turn in which a connection of uWebSockets.js may be closed (clock.ts).
  #cut(socket: StreamSocket): void {
    this.#remove(socket);
    this.#deps.defer(() => socket.cut());
  }

  #end(socket: StreamSocket): void {
    this.#remove(socket);
    this.#deps.defer(() => socket.end());
  }

  #remove(socket: StreamSocket): void {
    if (!this.#streams.remove(socket)) return;
    this.#deps.quota.release(socket);
    if (this.size === 0) {
      this.#deps.clock.clearTimer(this.#sweepTimer);
      this.#sweepTimer = undefined;
    }
    this.#counts.closed(socket.caller);
  }
}
