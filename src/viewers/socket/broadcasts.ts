/** The samples, states and events that WebSockets subscribe to: made for the first subscription, removed with the last. */
import { type Clock, type Defer, deferToNextTurn } from '../../clock.ts';
import type { Machine } from '../../machine/machine.ts';
import type { View } from '../../stats/view.ts';
import type { TopicName } from '../../wire/topics.ts';
import { EventBroadcast, type EventMember } from './event-broadcast.ts';
import { type Publisher, SampleBroadcast, type SampleBroadcastDeps, ShardQueue } from './sample-broadcast.ts';
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

/** One machine, or all. */
type EventSource = Pick<Machine, 'followTopic'>;

const keyOf = ({ view, intervalMs }: Pick<SampleBroadcast, 'view' | 'intervalMs'>) =>
  `${view.index} ${intervalMs}`;

export class Broadcasts {
  readonly #deps: BroadcastsDeps & { readonly defer: Defer };
  /** By their views and intervals. */
  readonly #samples = new Map<Machine, Map<string, SampleBroadcast>>();
  readonly #states = new Map<Machine, Map<TopicName, TopicState>>();
  readonly #events = new Map<EventSource, EventBroadcast>();
  readonly #counters = { sent: 0 };
  readonly #ofSamples: SampleBroadcastDeps;

  constructor(deps: BroadcastsDeps) {
    const { defer = deferToNextTurn } = deps;
    this.#deps = { ...deps, defer };
    let topics = 0;
    const createTopic = () => `stats ${++topics}`;
    this.#ofSamples = {
      ...this.#deps,
      now: deps.clock.now,
      queue: new ShardQueue(defer),
      counters: this.#counters,
      createTopic,
    };
  }

  /** Samples that were sent since the start, one per socket. */
  get sent(): number {
    return this.#counters.sent;
  }

  /** One more subscription to samples of `machine`, at most one per `intervalMs`. */
  openSamples(machine: Machine, view: View, intervalMs: number): SampleBroadcast {
    const ofMachine = this.#samples.get(machine) ?? new Map<string, SampleBroadcast>();
    this.#samples.set(machine, ofMachine);
    const key = keyOf({ view, intervalMs });
    let broadcast = ofMachine.get(key);
    if (broadcast === undefined) {
      broadcast = new SampleBroadcast(machine, view, intervalMs, this.#ofSamples);
      ofMachine.set(key, broadcast);
    }
    broadcast.users++;
    return broadcast;
  }

  closeSamples(broadcast: SampleBroadcast): void {
    const { machine } = broadcast;
    const ofMachine = this.#samples.get(machine);
    if (--broadcast.users > 0 || ofMachine === undefined) return;
    broadcast.end();
    ofMachine.delete(keyOf(broadcast));
    if (ofMachine.size === 0) this.#samples.delete(machine);
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
  addEvents(machine: EventSource, member: EventMember): void {
    const events = this.#events.get(machine) ?? new EventBroadcast(machine, this.#deps.defer);
    this.#events.set(machine, events);
    events.add(member);
  }

  removeEvents(machine: EventSource, member: EventMember): void {
    const events = this.#events.get(machine);
    events?.remove(member);
    if (events?.size === 0) this.#events.delete(machine);
  }

  /** A new configuration is in effect. */
  reconfigure(): void {
    for (const states of this.#states.values()) for (const state of states.values()) state.reconfigure();
  }
}
