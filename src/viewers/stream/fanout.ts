/** The fan-out: sends the newest sample to every subscriber of /api/stream, in slices. */
import { type Clock, type Defer, deferToNextTurn, wholeSeconds } from '../../clock.ts';
import { BufferQuota } from '../../http/clients/buffer-quota.ts';
import type { Caller } from '../../access/caller.ts';
import { type Counting, ViewerCounts } from '../../http/clients/viewer-counts.ts';
import type { Exchange, StreamEventHandler, StreamSocket } from '../../http/engine.ts';
import { type Headers, statusLine } from '../../http/reply.ts';
import type { Demand } from '../../stats/source.ts';
import type { View } from '../../stats/view.ts';
import type { EventCounters, SampleEvents, StreamServer } from './stream-server.ts';
import { beginPass, type Pass, Subscribers } from './subscribers.ts';

export interface FanoutOptions {
  readonly source: Demand;
  readonly clock: Clock;
  /** Counts what is kept for subscribers. */
  readonly quota?: BufferQuota;
  readonly counts?: Counting;
  /** For tests. */
  readonly defer?: Defer;
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

export class Fanout implements StreamServer {
  readonly #source: Demand;
  readonly #clock: Clock;
  readonly #defer: Defer;
  readonly #subscribers: Subscribers;
  readonly #quota: BufferQuota;
  readonly #counts: Counting;
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: SampleEvents | undefined;
  #number = 0;
  /** The running distribution. */
  #distribution: Pass | undefined;
  /** A newer sample arrived mid-pass: sockets already served get it in another pass. */
  #runsAgain = false;
  /** The newest sample is dropped after its distribution. */
  #isLast = false;
  #sweeping: Pass | undefined;
  #sweepTimer: unknown;
  #isClosed = false;
  #sent = 0;
  #skipped = 0;
  stallLimitSeconds = Number.POSITIVE_INFINITY;

  /** Both events of a stream: only the one that reports room passes an offset. */
  readonly #onEvent: StreamEventHandler;

  constructor(options: FanoutOptions) {
    const {
      source,
      clock,
      defer = deferToNextTurn,
      quota = new BufferQuota(),
      counts = new ViewerCounts(),
    } = options;
    this.#source = source;
    this.#clock = clock;
    this.#defer = defer;
    this.#quota = quota;
    this.#counts = counts;
    this.#subscribers = new Subscribers(clock.now);
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
    return this.#subscribers.size;
  }

  get eventCounters(): EventCounters {
    return { sent: this.#sent, skipped: this.#skipped };
  }

  open(
    exchange: Exchange,
    view: View,
    encoded: SampleEvents,
    headers: Headers,
    caller: Caller,
    skipsNext: boolean,
  ): void {
    const opened = exchange.startStream({
      status: statusLine(200),
      headers: [...STREAM_HEADERS, ...headers],
      event: encoded.event(view),
      view,
      caller,
      sent: skipsNext ? this.#number + 1 : this.#number,
      writtenAt: this.#seconds(),
      onEvent: this.#onEvent,
    });
    if (opened === undefined) return;
    const { socket, isWhole } = opened;
    this.#sent++;
    this.#subscribers.add(socket);
    this.#counts.opened(caller);
    if (caller.buffered !== undefined) this.#quota.set(socket, 0, caller.buffered);
    this.#source.subscribe(view);
    if (this.#sweepTimer === undefined) this.#sweepLater();
    if (this.#isClosed) this.#end(socket);
    else if (!isWhole) this.#defer(() => this.#drain(socket));
  }

  publish(encoded: SampleEvents): void {
    this.#newest = encoded;
    this.#isLast = false;
    this.#number++;
    this.#runsAgain = this.#distribution !== undefined;
    if (this.#runsAgain) return;
    this.#distribution = beginPass();
    this.#distribute();
  }

  /** Drops the newest sample when the running distribution has ended: for now none follows it. Full sockets miss it. */
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

  revalidate(passes: (caller: Caller) => boolean): void {
    for (const socket of this.#subscribers.all) if (!passes(socket.caller)) this.#cut(socket);
  }

  close(): number {
    this.#isClosed = true;
    let full = 0;
    for (const socket of this.#subscribers.all) {
      if (socket.isFull) full++;
      this.#end(socket);
    }
    return full;
  }

  #drain(socket: StreamSocket): void {
    if (!socket.resume()) return;
    this.#quota.set(socket, 0, socket.caller.buffered);
    if (this.#newest === undefined || socket.sent >= this.#number) {
      // uWebSockets.js passes on the bytes it kept only when something is written.
      socket.flush();
      return;
    }
    const event = this.#take(this.#newest, socket);
    socket.writtenAt = this.#seconds();
    socket.sendDrained(event);
    this.#reportBuffered(socket, event);
  }

  /** The event of the newest sample for `socket`, which gets none of those between it and its last one. */
  #take(newest: SampleEvents, socket: StreamSocket): Buffer {
    const skipped = this.#number - socket.sent - 1;
    this.#sent++;
    this.#skipped += skipped;
    socket.sent = this.#number;
    const { view } = socket;
    return skipped > 0 && newest.whole !== undefined ? newest.whole(view) : newest.event(view);
  }

  #reportBuffered(socket: StreamSocket, event: Buffer): void {
    if (socket.isFull) this.#quota.set(socket, socket.bufferedBytes(event.length), socket.caller.buffered);
  }

  #seconds(): number {
    return wholeSeconds(this.#clock.now());
  }

  #distribute(): void {
    const encoded = this.#newest;
    const pass = this.#distribution;
    if (encoded === undefined || pass === undefined) return;
    const number = this.#number;
    const seconds = this.#seconds();
    const isDone = this.#subscribers.walk(pass, (socket) => {
      if (socket.sent >= number || socket.isFull) return false;
      const event = this.#take(encoded, socket);
      socket.writtenAt = seconds;
      socket.send(event);
      this.#reportBuffered(socket, event);
      return true;
    });
    if (isDone) {
      // A new pass begins only now: otherwise the beginnings of the lists would never be reached under overload.
      this.#distribution = this.#runsAgain ? beginPass() : undefined;
      this.#runsAgain = false;
    }
    if (this.#distribution !== undefined) this.#defer(() => this.#distribute());
    else if (this.#isLast) this.forget();
  }

  #sweepLater(): void {
    this.#sweepTimer = this.#clock.setTimer(() => {
      this.#sweepLater();
      this.sweep();
    }, SWEEP_MS);
  }

  #continueSweep(): void {
    const pass = this.#sweeping;
    if (pass === undefined) return;
    const seconds = this.#seconds();
    const isDone = this.#subscribers.walk(pass, (socket) => {
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
      // It may be full already: uWebSockets.js reports a failed write only at the next one.
      if (silentFor * 1000 >= SWEEP_MS) socket.flush();
      return silentFor * 1000 >= SWEEP_MS;
    });
    if (isDone) this.#sweeping = undefined;
    else this.#defer(() => this.#continueSweep());
  }

  // In a turn in which a connection of uWebSockets.js may be closed (clock.ts).
  #cut(socket: StreamSocket): void {
    this.#remove(socket);
    this.#defer(() => socket.cut());
  }

  #end(socket: StreamSocket): void {
    this.#remove(socket);
    this.#defer(() => socket.end());
  }

  #remove(socket: StreamSocket): void {
    if (!this.#subscribers.remove(socket)) return;
    this.#counts.closed(socket.caller);
    this.#quota.release(socket);
    this.#source.unsubscribe(socket.view);
    if (this.size > 0) return;
    this.#clock.clearTimer(this.#sweepTimer);
    this.#sweepTimer = undefined;
  }
}
