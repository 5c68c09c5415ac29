/**
 * The fan-out with the native writer: the engine gives the connection of a stream away before a byte of the answer, and the
 * writer sends head, first event and every sample. What an engine cannot give away (TLS) stays with its own streams.
 */
import type { Framing } from '../../host/streams.ts';
import type { Caller } from '../../access/caller.ts';
import { type Counting, ViewerCounts } from '../../http/clients/viewer-counts.ts';
import type { Exchange, HandOver, Taker } from '../../http/engine.ts';
import { type Header, headBytes } from '../../http/head.ts';
import { type Headers, statusLine } from '../../http/reply.ts';
import type { Demand } from '../../stats/source.ts';
import { type View, viewAt } from '../../stats/view.ts';
import { Fanout, type FanoutOptions, STREAM_HEADERS } from './fanout.ts';
import type { Member, StreamOwner, StreamPool } from './stream-pool.ts';
import type { EventCounters, SampleEvents, StreamServer } from './stream-server.ts';

export interface NativeFanoutOptions extends FanoutOptions {
  readonly pool: StreamPool;
}

/** The streams of one view. */
interface Channel {
  readonly number: number;
  readonly view: View;
  /** Streams that the writer has or will be given. */
  size: number;
  /** Kept by the pool for each stream: of the first caller, and of others. */
  member: Member | undefined;
  members: WeakMap<Caller, Member> | undefined;
}

/** A stream whose connection is being handed over. */
interface Opening {
  readonly handOver: HandOver;
  readonly caller: Caller;
}

const FRAMING_HEADERS: Readonly<Record<Framing, Header>> = {
  chunked: ['Transfer-Encoding', 'chunked'],
  plain: ['Connection', 'close'],
};

export class NativeFanout implements StreamServer, StreamOwner {
  readonly #options: NativeFanoutOptions;
  readonly #pool: StreamPool;
  readonly #source: Demand;
  readonly #counts: Counting;
  /**
   * Streams that stay with the engine. undefined: there was none. A hub has one of these objects per watched machine, mostly
   * with one view, so it makes nothing that it does not need.
   */
  #fanout: Fanout | undefined;
  #channels: readonly Channel[] = [];
  /** undefined: none. */
  #openings: Set<Opening> | undefined;
  #size = 0;
  #adopted = 0;
  #newest: SampleEvents | undefined;
  #number = 0;
  #isClosed = false;

  constructor(options: NativeFanoutOptions) {
    const { pool, source, counts = new ViewerCounts() } = options;
    this.#options = options;
    this.#pool = pool;
    this.#source = source;
    this.#counts = counts;
  }

  get size(): number {
    return (this.#fanout?.size ?? 0) + this.#size;
  }

  /** Streams that the writer has. */
  get adopted(): number {
    return this.#adopted;
  }

  get eventCounters(): EventCounters {
    return this.#fanout?.eventCounters ?? { sent: 0, skipped: 0 };
  }

  get stallLimitSeconds(): number {
    return this.#pool.stallLimitSeconds;
  }

  set stallLimitSeconds(seconds: number) {
    if (this.#fanout !== undefined) this.#fanout.stallLimitSeconds = seconds;
    this.#pool.stallLimitSeconds = seconds;
  }

  open(
    exchange: Exchange,
    view: View,
    encoded: SampleEvents,
    headers: Headers,
    caller: Caller,
    skipsNext: boolean,
  ): void {
    const openHere = () => this.#ofEngine().open(exchange, view, encoded, headers, caller, skipsNext);
    if (this.#isClosed || this.#pool.hasEnded) {
      openHere();
      return;
    }
    const sent = skipsNext ? this.#number + 1 : this.#number;
    const event = encoded.event(view);
    const channel = this.#channelOf(view);
    let opening: Opening | undefined;
    let isDone = false;
    const settle = () => {
      isDone = true;
      if (opening === undefined) return;
      this.#openings?.delete(opening);
      if (this.#openings?.size === 0) this.#openings = undefined;
    };
    const taker: Taker = {
      take: (descriptor, framing) => {
        const head = headBytes(statusLine(200), [...STREAM_HEADERS, ...headers, FRAMING_HEADERS[framing]]);
        this.#pool.adopt(
          descriptor,
          { channel: channel.number, sent, framing, head, event },
          this.#memberOf(channel, caller),
        );
        settle();
        this.#adopted++;
        // It may lack samples that came while it was handed over.
        if (sent < this.#number) this.#write(channel);
      },
      onGone: () => {
        settle();
        this.#lose(channel, caller);
      },
      onRefused: () => {
        settle();
        this.#lose(channel, caller);
        openHere();
      },
    };
    this.#count(channel, caller);
    const handOver = exchange.handOver(taker);
    if (handOver === undefined) {
      // The other one first: a view in demand always has a subscriber.
      openHere();
      if (!isDone) this.#lose(channel, caller);
      return;
    }
    if (isDone) return;
    opening = { handOver, caller };
    this.#openings ??= new Set();
    this.#openings.add(opening);
  }

  publish(encoded: SampleEvents): void {
    this.#newest = encoded;
    this.#number++;
    this.#fanout?.publish(encoded);
    for (const channel of this.#channels) this.#write(channel);
  }

  forget(): void {
    this.#newest = undefined;
    this.#fanout?.forget();
    for (const { number } of this.#channels) this.#pool.forget(number);
  }

  revalidate(passes: (caller: Caller) => boolean): void {
    this.#fanout?.revalidate(passes);
    for (const { caller, handOver } of [...(this.#openings ?? [])]) if (!passes(caller)) handOver.cut();
    if (this.#adopted > 0) this.#pool.revalidate(this, passes);
  }

  close(): number {
    this.#isClosed = true;
    for (const { handOver } of [...(this.#openings ?? [])]) handOver.cut();
    for (const { number } of this.#channels) this.#pool.finish(number);
    return this.#fanout?.close() ?? 0;
  }

  onClosed(number: number, caller: Caller): void {
    this.#adopted--;
    for (const channel of this.#channels)
      if (channel.number === number) {
        this.#lose(channel, caller);
        return;
      }
  }

  #ofEngine(): Fanout {
    if (this.#fanout === undefined) {
      this.#fanout = new Fanout({ ...this.#options, counts: this.#counts });
      this.#fanout.stallLimitSeconds = this.stallLimitSeconds;
      if (this.#isClosed) this.#fanout.close();
    }
    return this.#fanout;
  }

  #write({ number, view }: Channel): void {
    const newest = this.#newest;
    if (newest === undefined) return;
    const mayMiss = newest.whole !== undefined && (this.#openings !== undefined || this.#pool.mayMiss());
    this.#pool.publish(number, this.#number, newest.event(view), mayMiss ? newest.whole?.(view) : undefined);
  }

  #channelOf(view: View): Channel {
    const known = this.#channels.find((channel) => channel.view.index === view.index);
    if (known !== undefined) return known;
    const channel: Channel = {
      number: this.#pool.openChannel(),
      view: viewAt(view.index),
      size: 0,
      member: undefined,
      members: undefined,
    };
    this.#channels = [...this.#channels, channel];
    return channel;
  }

  /** One object for all streams of a caller: equal callers are one object too (Gate.keep). */
  #memberOf(channel: Channel, caller: Caller): Member {
    const first = channel.member;
    const known = first?.caller === caller ? first : channel.members?.get(caller);
    if (known !== undefined) return known;
    const member = { owner: this, channel: channel.number, caller };
    channel.member ??= member;
    if (first !== undefined) {
      channel.members ??= new WeakMap();
      channel.members.set(caller, member);
    }
    return member;
  }

  #count(channel: Channel, caller: Caller): void {
    channel.size++;
    this.#size++;
    this.#counts.opened(caller);
    this.#source.subscribe(channel.view);
  }

  #lose(channel: Channel, caller: Caller): void {
    channel.size--;
    this.#size--;
    this.#counts.closed(caller);
    if (channel.size === 0) {
      this.#channels = this.#channels.filter((each) => each !== channel);
      this.#pool.closeChannel(channel.number);
    }
    this.#source.unsubscribe(channel.view);
  }
}
