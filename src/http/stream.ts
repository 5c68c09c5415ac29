/** The fan-out: every subscriber of /api/stream, the newest sample to each, in slices. */
import type { Encoded, View } from '../stats/view.ts';
import { VIEW_COUNT } from '../stats/view.ts';
import { type Headers, statusLine } from './reply.ts';
import type { Exchange, StreamSocket } from './server.ts';

/** What the fan-out keeps of one subscriber. */
export interface Subscriber {
  readonly view: View;
  /** Who it is, for judging it again after a reload. */
  readonly client: unknown;
  /** Its place in its view's list. */
  place: number;
  /** The newest sample it needs no more: sent, or skipped because it joined a moment before. */
  sent: number;
  /** When something was last written to it. */
  writtenAtMs: number;
}

export type StreamSubscriber = StreamSocket<Subscriber>;

export interface FanoutOptions {
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
const SILENCE_MS = 15_000;

export class Fanout {
  readonly #options: FanoutOptions;
  readonly #lists: StreamSubscriber[][] = Array.from({ length: VIEW_COUNT }, () => []);
  #size = 0;
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: Encoded | undefined;
  #number = 0;
  /** Where the running distribution stands: it walks each list from its end, so that swap-remove loses nobody. */
  #viewAt = 0;
  #placeAt = 0;
  #isRunning = false;
  /** A newer sample came while one was being distributed: who had got the older one is served in another pass. */
  #runsAgain = false;

  constructor(options: FanoutOptions) {
    this.#options = options;
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
    client: unknown,
    skipsNext: boolean,
  ): void {
    const owner: Subscriber = {
      view,
      client,
      place: 0,
      sent: skipsNext ? this.#number + 1 : this.#number,
      writtenAtMs: this.#options.now(),
    };
    const answer = { status: statusLine(200), headers: [...STREAM_HEADERS, ...headers] };
    const socket = exchange.startStream(answer, encoded.line(view), owner, this.#events);
    if (socket === undefined) return;
    const list = this.#listOf(view);
    owner.place = list.length;
    list.push(socket);
    this.#size++;
    this.#options.onSubscribed(view);
  }

  /** Sends `encoded` to every subscriber. A distribution that is still under way goes on with it. */
  publish(encoded: Encoded): void {
    this.#newest = encoded;
    this.#number++;
    this.#runsAgain = this.#isRunning;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#rewind();
    this.#runSlice();
  }

  /** Sends a comment to whoever has heard nothing for 15 s. */
  breakSilence(): void {
    const now = this.#options.now();
    for (const list of this.#lists)
      for (const socket of list) {
        if (now - socket.owner.writtenAtMs < SILENCE_MS) continue;
        socket.sendComment();
        socket.owner.writtenAtMs = now;
      }
  }

  /** Cuts every subscriber that `passes` no longer lets through. */
  judgeAgain(passes: (client: unknown) => boolean): void {
    for (const list of this.#lists)
      for (const socket of [...list])
        if (!passes(socket.owner.client)) this.#drop(socket, () => socket.cut());
  }

  /** Whether a subscriber's socket is full: bytes wait for it in this process. */
  get hasLaggards(): boolean {
    return this.#lists.some((list) => list.some((socket) => socket.isFull));
  }

  /** Ends every stream on a frame boundary. */
  close(): void {
    for (const list of this.#lists) for (const socket of [...list]) this.#drop(socket, () => socket.end());
  }

  readonly #events = {
    onDrained: (socket: StreamSubscriber) => {
      if (this.#newest !== undefined && socket.owner.sent < this.#number) this.#send(socket, this.#newest);
    },
    onClosed: (socket: StreamSubscriber) => this.#remove(socket),
  };

  #listOf(view: View): StreamSubscriber[] {
    return this.#listAt(view.index);
  }

  #listAt(index: number): StreamSubscriber[] {
    const list = this.#lists[index];
    if (list === undefined) throw new RangeError(`no view ${index}`);
    return list;
  }

  #send(socket: StreamSubscriber, encoded: Encoded): void {
    const { owner } = socket;
    owner.sent = this.#number;
    owner.writtenAtMs = this.#options.now();
    socket.send(encoded.line(owner.view));
  }

  #runSlice(): void {
    const encoded = this.#newest;
    if (this.#runsAgain && this.#viewAt === VIEW_COUNT) this.#rewind();
    const endsAt = this.#options.now() + SLICE_MS;
    let writes = 0;
    while (encoded !== undefined && this.#viewAt < VIEW_COUNT) {
      const list = this.#listAt(this.#viewAt);
      const line = list.length > 0 ? encoded.line(list[0]?.owner.view ?? this.#unreachable()) : undefined;
      let place = Math.min(this.#placeAt, list.length - 1);
      const now = this.#options.now();
      for (; place >= 0 && line !== undefined; place--) {
        const socket = list[place];
        if (socket === undefined || socket.isFull || socket.owner.sent >= this.#number) continue;
        socket.owner.sent = this.#number;
        socket.owner.writtenAtMs = now;
        socket.send(line);
        if (++writes % WRITES_PER_LOOK === 0 && this.#options.now() >= endsAt) {
          this.#placeAt = place - 1;
          this.#options.defer(() => this.#runSlice());
          return;
        }
      }
      this.#viewAt++;
      if (this.#viewAt < VIEW_COUNT) this.#placeAt = this.#listAt(this.#viewAt).length - 1;
    }
    // Not from the start at once: under overload the last ones of the lists would never be reached.
    this.#isRunning = this.#runsAgain;
    if (this.#runsAgain) this.#options.defer(() => this.#runSlice());
  }

  #rewind(): void {
    this.#runsAgain = false;
    this.#viewAt = 0;
    this.#placeAt = this.#listAt(0).length - 1;
  }

  #unreachable(): never {
    throw new Error('an empty list was distributed');
  }

  #drop(socket: StreamSubscriber, close: () => void): void {
    this.#remove(socket);
    close();
  }

  #remove(socket: StreamSubscriber): void {
    const { view, place } = socket.owner;
    const list = this.#listOf(view);
    if (list[place] !== socket) return;
    const last = list.pop();
    if (last !== undefined && last !== socket) {
      last.owner.place = place;
      list[place] = last;
    }
    this.#size--;
    this.#options.onUnsubscribed(view);
  }
}
