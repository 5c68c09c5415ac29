/** The feeds and states that WebSockets follow: made for the first follower, gone with the last. */
import { type Clock, type Defer, deferToNextTurn } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { TOPIC_NAMES } from '../../http/socket/topic-names.ts';
import type { TopicName } from '../../wire/topics.ts';
import { Feed, type FeedFollower } from './feed.ts';
import { type EventFollower, HostEvents } from './host-events.ts';
import type { SampleLane, SocketAsking, SocketHost } from './rooms.ts';
import { HostState, type StateFollower } from './state.ts';

export interface FeedsOptions {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly asking: Pick<SocketAsking, 'poll'>;
  readonly intervalMs: () => number;
  readonly onError: (error: unknown) => void;
}

/** The question with the shortest answer. */
const LEAST_HISTORY = { series: ['none'], since: -1 };

export class Feeds {
  readonly #options: FeedsOptions;
  readonly #defer: Defer = deferToNextTurn;
  readonly #feeds = new Map<SampleLane, Feed>();
  /** By the id of the machine, then by topic. */
  readonly #states = new Map<SocketHost, Map<TopicName, HostState>>();
  readonly #events = new Map<SocketHost, HostEvents>();
  #sent = 0;

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return [...this.#feeds.values()].reduce((sum, feed) => sum + feed.sent, this.#sent);
  }

  /** Adds a follower of the samples of `lane`, which is a lane of `host`. */
  follow(host: SocketHost, lane: SampleLane, follower: FeedFollower): Feed {
    const feed = this.#feeds.get(lane) ?? new Feed(host.id, lane, this.#defer);
    this.#feeds.set(lane, feed);
    lane.sink = feed;
    feed.add(follower);
    return feed;
  }

  unfollow(lane: SampleLane, follower: FeedFollower): void {
    const feed = this.#feeds.get(lane);
    feed?.remove(follower);
    if (feed === undefined || feed.size > 0) return;
    this.#sent += feed.sent;
    this.#feeds.delete(lane);
    lane.sink = undefined;
  }

  /** The state of a topic, which is read while somebody follows it. */
  followState(host: SocketHost, name: TopicName, follower: StateFollower): HostState {
    const states = this.#states.get(host) ?? new Map<TopicName, HostState>();
    this.#states.set(host, states);
    const state = states.get(name) ?? new HostState({ ...this.#options, host, name, defer: this.#defer });
    states.set(name, state);
    state.follow(follower);
    return state;
  }

  /** The topic `events`, which has no state. */
  followEvents(host: SocketHost, follower: EventFollower): void {
    const events = this.#events.get(host) ?? new HostEvents(host, this.#defer);
    this.#events.set(host, events);
    events.follow(follower);
  }

  unfollowEvents(host: SocketHost, follower: EventFollower): void {
    const events = this.#events.get(host);
    events?.unfollow(follower);
    if (events?.size === 0) this.#events.delete(host);
  }

  /** Whether the machine says that it keeps no history, and so has no events. Rejects only when something is broken. */
  async isWithoutEvents({ id }: SocketHost): Promise<boolean> {
    try {
      await this.#options.asking.poll(id, 'history', LEAST_HISTORY);
      return false;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return error.code === 'feature_disabled';
    }
  }

  unfollowState(host: SocketHost, name: TopicName, follower: StateFollower): void {
    const states = this.#states.get(host);
    const state = states?.get(name);
    state?.unfollow(follower);
    if (states === undefined || state === undefined || state.size > 0) return;
    states.delete(name);
    if (TOPIC_NAMES.every((each) => !states.has(each))) this.#states.delete(host);
  }
}
