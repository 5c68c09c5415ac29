/**
 * Stats for WebSockets: encoded once per view and published as a topic of uWebSockets.js, which writes to all sockets of
 * a topic in one call. Therefore the sockets of a view are spread over shards, and one shard is served per turn.
 */
import type { Defer } from '../../clock.ts';
import type { Encoded, View } from '../../stats/view.ts';
import { VIEW_COUNT } from '../../stats/view.ts';

/** A write costs about 10 µs: less than 2 ms per turn of the event loop. */
const SOCKETS_PER_TURN = 128;

/** Sockets of one view that are written to in one call. */
export interface Shard {
  readonly topic: string;
  readonly view: View;
  size: number;
  /** Number of the newest sample that its sockets have had (or may skip, having just joined). */
  sent: number;
}

/** Sends to all sockets that joined a topic. */
export interface Publisher {
  publish(topic: string, bytes: Buffer): void;
}

export interface StatsShardsOptions {
  readonly server: Publisher;
  readonly defer: Defer;
}

export class StatsShards {
  readonly #options: StatsShardsOptions;
  readonly #shards: Shard[][] = Array.from({ length: VIEW_COUNT }, () => []);
  #created = 0;
  /** The newest sample and its number; samples are numbered from 1. */
  #newest: Encoded | undefined;
  #number = 0;
  /** The shards that are still to be served. */
  #due: Shard[] = [];
  #isRunning = false;
  #sent = 0;

  constructor(options: StatsShardsOptions) {
    this.#options = options;
  }

  /** Messages since the start, one per socket. */
  get sent(): number {
    return this.#sent;
  }

  /** A place for one more socket of `view`, which has had the newest sample. */
  join(view: View): Shard {
    const shards = this.#shardsOf(view);
    // A shard that is still to be served would send the newest sample again.
    let shard = shards.find(({ size, sent }) => size < SOCKETS_PER_TURN && sent === this.#number);
    if (shard === undefined) {
      shard = { topic: `stats ${++this.#created}`, view, size: 0, sent: this.#number };
      shards.push(shard);
    }
    shard.size++;
    return shard;
  }

  leave(shard: Shard): void {
    shard.size--;
    if (shard.size > 0) return;
    const shards = this.#shardsOf(shard.view);
    shards.splice(shards.indexOf(shard), 1);
  }

  /** Sends `encoded` to every socket, in slices. A round that is under way continues with it. */
  publish(encoded: Encoded): void {
    this.#newest = encoded;
    this.#number++;
    if (this.#isRunning) return;
    this.#due = this.#shards.flat();
    this.#serve();
  }

  #serve(): void {
    const encoded = this.#newest;
    if (encoded === undefined) return;
    let served = 0;
    for (let shard = this.#due.pop(); shard !== undefined; shard = this.#due.pop()) {
      if (shard.size === 0 || shard.sent === this.#number) continue;
      shard.sent = this.#number;
      this.#options.server.publish(shard.topic, encoded.message(shard.view));
      served += shard.size;
      this.#sent += shard.size;
      if (served >= SOCKETS_PER_TURN) break;
    }
    // The shards that got an older sample in this round are served again.
    if (this.#due.length === 0) this.#due = this.#shards.flat().filter(({ sent }) => sent !== this.#number);
    this.#isRunning = this.#due.length > 0;
    if (this.#isRunning) this.#options.defer(() => this.#serve());
  }

  #shardsOf(view: View): Shard[] {
    const shards = this.#shards[view.index];
    if (shards === undefined) throw new RangeError(`no view ${view.index}`);
    return shards;
  }
}
