/** The samples of one lane for WebSockets: each message is made once per view, and sent in slices. */
import type { Defer } from '../../clock.ts';
import { BoundedCache } from '../../fairness/bounded-cache.ts';
import type { View } from '../../stats/view.ts';
import { frameOf } from './messages.ts';
import type { LaneSample, LaneSink, SampleLane } from './rooms.ts';

/** A send costs about 10 µs: less than 2 ms per turn of the event loop. */
const SENDS_PER_TURN = 128;
/** As MAX_CUTS_BYTES (src/hub/host/sample.ts). */
const MAX_TEXTS_LENGTH = 16 * 2 ** 20;

export interface FeedFollower {
  readonly view: View;
  /** Its messages have the id of the machine. */
  readonly isNamed: boolean;
  /** Number of the newest sample that it has had. */
  sent: number;
  sendSample(): void;
}

export class Feed implements LaneSink {
  readonly #id: string;
  readonly #defer: Defer;
  readonly #followers = new Set<FeedFollower>();
  readonly #lane: Pick<SampleLane, 'current'>;
  /** Samples are numbered from 1. */
  #number = 0;
  #due: FeedFollower[] = [];
  #isRunning = false;
  /** The messages of a sample, by view and form. */
  readonly #texts = new BoundedCache<number, string>(MAX_TEXTS_LENGTH);
  #textsOf: LaneSample | undefined;
  #sent = 0;

  /** `id`: the machine's. */
  constructor(id: string, lane: Pick<SampleLane, 'current'>, defer: Defer) {
    this.#id = id;
    this.#lane = lane;
    this.#defer = defer;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** Messages since the start. */
  get sent(): number {
    return this.#sent;
  }

  add(follower: FeedFollower): void {
    this.#followers.add(follower);
  }

  remove(follower: FeedFollower): void {
    this.#followers.delete(follower);
  }

  /** Sends the newest sample to all followers. A round that is under way continues with it. */
  publish(): void {
    this.#number++;
    if (this.#isRunning) return;
    this.#due = [...this.#followers];
    this.#serve();
  }

  forget(): void {
    this.#texts.clear();
    this.#textsOf = undefined;
  }

  /** `follower` misses the newest sample. */
  skip(follower: FeedFollower): void {
    follower.sent = this.#number;
  }

  /** The newest sample as a message for `follower`, which then has had it; undefined: there is none for its view. */
  take(follower: FeedFollower): string | undefined {
    const { view, isNamed } = follower;
    follower.sent = this.#number;
    const { current } = this.#lane;
    if (current?.has(view) !== true || !current.isValid) return undefined;
    if (current !== this.#textsOf) this.#texts.clear();
    this.#textsOf = current;
    const key = view.index * 2 + (isNamed ? 1 : 0);
    let text = this.#texts.get(key);
    if (text === undefined) {
      const host = isNamed ? this.#id : undefined;
      text = frameOf('system_stats', current.payload(view), { host, id: undefined });
      this.#texts.set(key, text);
    }
    this.#sent++;
    return text;
  }

  #serve(): void {
    let served = 0;
    for (let each = this.#due.pop(); each !== undefined; each = this.#due.pop()) {
      if (!this.#followers.has(each) || each.sent === this.#number) continue;
      each.sendSample();
      if (++served >= SENDS_PER_TURN) break;
    }
    // Those that got an older sample in this round are served again.
    if (this.#due.length === 0) this.#due = [...this.#followers].filter(({ sent }) => sent !== this.#number);
    this.#isRunning = this.#due.length > 0;
    if (this.#isRunning) this.#defer(() => this.#serve());
  }
}
