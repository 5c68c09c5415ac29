/** The samples, states and events that WebSockets subscribe to: made for the first subscription, removed with the last. */
import { type Clock, type Defer, deferToNextTurn } from '../../clock.ts';
import type { Machine, SampleFeed } from '../../machine/machine.ts';
import type { TopicName } from '../../wire/topics.ts';
import { EventBroadcast, type EventMember } from './event-broadcast.ts';
import { type Publisher, SampleBroadcast } from './sample-broadcast.ts';
import { type TopicMember, TopicState } from './topic-state.ts';
import { TOPIC_NAMES } from './topics.ts';

export interface BroadcastsDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly publisher: Publisher;
  /** As SampleBroadcastDeps.tracksMembers. */
  readonly tracksMembers: boolean;
  /** From one reading of a topic to the next. */
  readonly intervalMs: () => number;
  readonly onError: (error: unknown) => void;
  /** Called after each sample. */
  readonly onSample?: () => void;
  /** For tests. */
  readonly defer?: Defer;
}

/** The broadcast of a feed, and how many subscriptions it has. */
interface Shared {
  readonly broadcast: SampleBroadcast;
  size: number;
}

export class Broadcasts {
  readonly #deps: BroadcastsDeps & { readonly defer: Defer };
  readonly #samples = new Map<SampleFeed, Shared>();
  readonly #states = new Map<Machine, Map<TopicName, TopicState>>();
  readonly #events = new Map<Machine, EventBroadcast>();
  /** Samples sent by broadcasts that were removed. */
  #sent = 0;
  #topics = 0;

  constructor(deps: BroadcastsDeps) {
    const { defer = deferToNextTurn } = deps;
    this.#deps = { ...deps, defer };
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return [...this.#samples.values()].reduce((sum, { broadcast }) => sum + broadcast.sent, this.#sent);
  }

  /** One more subscription of `feed`, a feed of `machine`. */
  openSamples({ id }: Machine, feed: SampleFeed): SampleBroadcast {
    const known = this.#samples.get(feed);
    if (known !== undefined) {
      known.size++;
      return known.broadcast;
    }
    const createTopic = () => `stats ${++this.#topics}`;
    const broadcast = new SampleBroadcast(id, { ...this.#deps, createTopic });
    this.#samples.set(feed, { broadcast, size: 1 });
    feed.sink = broadcast;
    return broadcast;
  }

  closeSamples(feed: SampleFeed): void {
    const shared = this.#samples.get(feed);
    if (shared === undefined || --shared.size > 0) return;
    this.#sent += shared.broadcast.sent;
    this.#samples.delete(feed);
    feed.sink = undefined;
  }

  addState(machine: Machine, name: TopicName, member: TopicMember): TopicState {
    const states = this.#states.get(machine) ?? new Map<TopicName, TopicState>();
    this.#states.set(machine, states);
    const state = states.get(name) ?? new TopicState(machine, name, this.#deps);
    states.set(name, state);
    state.add(member);
    return state;
  }

  removeState(machine: Machine, name: TopicName, member: TopicMember): void {
    const states = this.#states.get(machine);
    const state = states?.get(name);
    state?.remove(member);
    if (states === undefined || state === undefined || state.size > 0) return;
    states.delete(name);
    if (TOPIC_NAMES.every((each) => !states.has(each))) this.#states.delete(machine);
  }

  /** The topic `events`, which has no state. */
  addEvents(machine: Machine, member: EventMember): void {
    const events = this.#events.get(machine) ?? new EventBroadcast(machine, this.#deps.defer);
    this.#events.set(machine, events);
    events.add(member);
  }

  removeEvents(machine: Machine, member: EventMember): void {
    const events = this.#events.get(machine);
    events?.remove(member);
    if (events?.size === 0) this.#events.delete(machine);
  }

  /** A new configuration is in effect. */
  reconfigure(): void {
    for (const states of this.#states.values()) for (const state of states.values()) state.reconfigure();
  }
}
