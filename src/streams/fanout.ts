/**
 * The event streams of one view of a machine, or of the fleet. The native writer sends them: the engine gives the connection
 * of a stream away before a byte of the answer, and the writer sends head, first event and every later one. What an engine
 * cannot give away (TLS, other platforms) stays with its own streams.
 */

import type { Caller } from '../access/caller.ts';
import type { Framing } from '../host/streams.ts';
import type { Counting } from '../http/clients/viewer-counts.ts';
import type { HandOver, Taker } from '../http/engine.ts';
import { type Header, headBytes } from '../http/head.ts';
import { statusLine } from '../http/reply.ts';
import {
  EngineFanout,
  type EngineFanoutDeps,
  type Opening,
  STREAM_HEADERS,
  type StreamEvent,
} from './engine-fanout.ts';
import type { Member, StreamOwner, StreamPool } from './pool.ts';

/** Shared by all fan-outs of a role. */
export interface FanoutDeps extends EngineFanoutDeps {
  /** undefined: this platform has no native writer, and the engine sends all streams. */
  readonly pool: StreamPool | undefined;
}

/** A stream whose connection is being handed over. */
interface Handing {
  readonly handOver: HandOver;
  readonly caller: Caller;
}

const FRAMING_HEADERS: Readonly<Record<Framing, Header>> = {
  chunked: ['Transfer-Encoding', 'chunked'],
  plain: ['Connection', 'close'],
};

export class Fanout implements StreamOwner {
  readonly #deps: FanoutDeps;
  readonly #counts: Counting;
  /**
   * Streams that stay with the engine. undefined: none so far. A hub has one of these objects per watched machine, so it
   * makes nothing that it does not need.
   */
  #ofEngine: EngineFanout | undefined;
  /** Channel of the native writer; undefined: it has no stream. */
  #channel: number | undefined;
  /** Kept by the pool for each stream: of the first caller, and of others. */
  #member: Member | undefined;
  #members: WeakMap<Caller, Member> | undefined;
  /** undefined: none. */
  #handings: Set<Handing> | undefined;
  /** Streams that the writer has or will be given. */
  #size = 0;
  #newest: StreamEvent | undefined;
  #number = 0;
  #isClosed = false;

  /** `counts`: notified of each stream that opens or closes. */
  constructor(deps: FanoutDeps, counts: Counting) {
    this.#deps = deps;
    this.#counts = counts;
  }

  /** Open streams. */
  get size(): number {
    return (this.#ofEngine?.size ?? 0) + this.#size;
  }

  /** Replies with the stream's headers and its first event, then keeps the stream. */
  open(opening: Opening): void {
    const { pool } = this.#deps;
    if (pool === undefined || this.#isClosed || pool.hasEnded) this.#openHere(opening);
    else this.#giveTo(pool, opening);
  }

  /** Sends `event` to every stream. A distribution that is under way continues with it. */
  publish(event: StreamEvent): void {
    this.#newest = event;
    this.#number++;
    this.#ofEngine?.publish(event);
    this.#write();
  }

  /** Drops the newest event when all that have room have had it: for now none follows it. */
  forget(): void {
    this.#newest = undefined;
    this.#ofEngine?.forget();
    if (this.#channel !== undefined) this.#deps.pool?.forget(this.#channel);
  }

  /** Cuts the streams whose caller `passes` no longer lets through, but for those that the writer has. */
  revalidate(passes: (caller: Caller) => boolean): void {
    this.#ofEngine?.revalidate(passes);
    for (const { caller, handOver } of [...(this.#handings ?? [])]) if (!passes(caller)) handOver.cut();
  }

  /** Ends every stream at the end of an event; returns how many still have to take what they were sent before. */
  close(): number {
    this.#isClosed = true;
    for (const { handOver } of [...(this.#handings ?? [])]) handOver.cut();
    if (this.#channel !== undefined) this.#deps.pool?.finish(this.#channel);
    return this.#ofEngine?.close() ?? 0;
  }

  onClosed(caller: Caller): void {
    this.#size--;
    if (this.#size === 0 && this.#channel !== undefined) {
      this.#deps.pool?.closeChannel(this.#channel);
      this.#channel = undefined;
      this.#member = undefined;
      this.#members = undefined;
    }
    this.#counts.closed(caller);
  }

  #openHere(opening: Opening): void {
    if (this.#ofEngine === undefined) {
      this.#ofEngine = new EngineFanout(this.#deps, this.#counts);
      if (this.#isClosed) this.#ofEngine.close();
    }
    this.#ofEngine.open(opening);
  }

  #giveTo(pool: StreamPool, opening: Opening): void {
    const { exchange, headers, event, caller, skipsNext } = opening;
    const sent = skipsNext ? this.#number + 1 : this.#number;
    this.#channel ??= pool.openChannel();
    const channel = this.#channel;
    let handing: Handing | undefined;
    let isDone = false;
    const settle = () => {
      isDone = true;
      if (handing === undefined) return;
      this.#handings?.delete(handing);
      if (this.#handings?.size === 0) this.#handings = undefined;
    };
    const taker: Taker = {
      take: (descriptor, framing) => {
        const head = headBytes(statusLine(200), [...STREAM_HEADERS, ...headers, FRAMING_HEADERS[framing]]);
        pool.adopt(descriptor, { channel, sent, framing, head, event, member: this.#memberOf(caller) });
        settle();
        // It may lack events that came while it was handed over.
        if (sent < this.#number) this.#write();
      },
      onGone: () => {
        settle();
        this.onClosed(caller);
      },
      onRefused: () => {
        settle();
        // The other one first: a fan-out without streams ends.
        this.#openHere(opening);
        this.onClosed(caller);
      },
    };
    this.#size++;
    this.#counts.opened(caller);
    const handOver = exchange.handOver(taker);
    if (isDone) return;
    if (handOver === undefined) {
      taker.onRefused();
      return;
    }
    handing = { handOver, caller };
    this.#handings ??= new Set();
    this.#handings.add(handing);
  }

  #write(): void {
    const [newest, channel, { pool }] = [this.#newest, this.#channel, this.#deps];
    if (newest === undefined || channel === undefined || pool === undefined) return;
    const mayMiss = newest.whole !== undefined && (this.#handings !== undefined || pool.mayMiss());
    pool.publish(channel, this.#number, newest.bytes, mayMiss ? newest.whole?.() : undefined);
  }

  /** One object for all streams of a caller: equal callers are one object too (Gate.keep). */
  #memberOf(caller: Caller): Member {
    const first = this.#member;
    const known = first?.caller === caller ? first : this.#members?.get(caller);
    if (known !== undefined) return known;
    const member = { owner: this, caller };
    this.#member ??= member;
    if (first !== undefined) {
      this.#members ??= new WeakMap();
      this.#members.set(caller, member);
    }
    return member;
  }
}
