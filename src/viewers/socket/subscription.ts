/** The topics of one machine that one socket subscribes to: samples, states, events, and the condition of the machine. */

import type { Caller } from '../../access/caller.ts';
import { featureDisabled, ServiceError } from '../../errors.ts';
import type { Machine } from '../../machine/machine.ts';
import { allows } from '../../scopes.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MachineSample } from '../../streams/sample.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { TopicName } from '../../wire/topics.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { EventMember } from './event-broadcast.ts';
import { failureOf } from './feedback.ts';
import { errorFrame, frame, frameOf, type Place, refusalFrame } from './messages.ts';
import type { SampleBroadcast, SampleMember, Shard } from './sample-broadcast.ts';
import type { TopicMember, TopicState } from './topic-state.ts';
import { bitOf, EVENTS_BIT, TOPIC_NAMES, TOPIC_ROWS, type Topics } from './topics.ts';

/** The socket of a subscription. */
export interface Outlet {
  readonly caller: Pick<Caller, 'scopes'>;
  readonly isFull: boolean;
  send(text: string): void;
  /** Receives what is published to `topic`. */
  join(topic: string): void;
  leave(topic: string): void;
  /** Calls `subscription.flush` when there is room again. */
  waits(subscription: Subscription): void;
  /** Reports an error of work that must not fail. */
  watch(work: Promise<unknown>): void;
}

/** Whether its topics have detail; `media`: that one alone. */
export type Detail = boolean | 'media';

/** How its topics are sent. */
interface Terms {
  readonly detail: Detail;
  /** At most one sample in this time; 0: all. */
  readonly intervalMs: number;
}

export const NOTHING: Topics = { sections: 0, states: 0 };

/** Beside the bits of the topics, for what there was no room for. */
const SAMPLE_BIT = 1 << 16;
const CONDITION_BIT = 1 << 17;

/** The origin of its samples. */
interface Source {
  readonly broadcast: SampleBroadcast;
  /** undefined: it has not begun. */
  shard: Shard | undefined;
}

/** A state whose snapshot is being read: changes come after it. */
interface Beginning {
  readonly bit: number;
  readonly state: TopicState;
  hasChanged: boolean;
}

/** One empty list for all subscriptions. */
const NONE: readonly never[] = [];

export class Subscription implements SampleMember, TopicMember, EventMember {
  readonly machine: Machine;
  readonly isNamed: boolean;
  readonly #outlet: Outlet;
  readonly #broadcasts: Broadcasts;
  #topics = NOTHING;
  #detail: Detail = false;
  #intervalMs = 0;
  #source: Source | undefined;
  #states: readonly TopicState[] = NONE;
  #beginning: readonly Beginning[] = NONE;
  /** The first sample is the answer to this message. */
  #answers: MessageId | undefined;
  #unsent = 0;

  /** `isNamed`: its messages have the id of the machine. */
  constructor(machine: Machine, isNamed: boolean, outlet: Outlet, broadcasts: Broadcasts) {
    this.machine = machine;
    this.isNamed = isNamed;
    this.#outlet = outlet;
    this.#broadcasts = broadcasts;
  }

  get topics(): Topics {
    return this.#topics;
  }

  get detail(): Detail {
    return this.#detail;
  }

  /** As a member of a topic. */
  get withDetail(): boolean {
    return this.#detail !== false;
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  get isFull(): boolean {
    return this.#outlet.isFull;
  }

  get seesProcesses(): boolean {
    return allows(this.#outlet.caller.scopes, 'processes');
  }

  /**
   * Subscribes to `topics` and nothing else, and sends the states in `snapshots` and the sample as answers to `id`. A sample
   * is sent where the view or the interval is another one, or `isAsked`.
   */
  follow(
    topics: Topics,
    { detail, intervalMs }: Terms,
    { isAsked, snapshots }: { readonly isAsked: boolean; readonly snapshots: number },
    id: MessageId | undefined,
  ): void {
    this.#followEvents(topics.states);
    this.#topics = topics;
    this.#detail = detail;
    this.#followStates(topics.states);
    this.#unsent &= topics.states | SAMPLE_BIT | CONDITION_BIT;
    if (snapshots !== 0) this.#outlet.watch(this.#sendSnapshots(snapshots, id));
    const view = topics.sections === 0 ? undefined : viewOf(topics.sections, detail === true);
    const isOther = view !== this.#source?.broadcast.view || intervalMs !== this.#intervalMs;
    this.#intervalMs = intervalMs;
    if (isOther || isAsked) this.#followSamples(view, id);
  }

  close(): void {
    this.follow(NOTHING, this, { isAsked: false, snapshots: 0 }, undefined);
  }

  sendCondition(id?: MessageId): void {
    if (this.#hasCapacityFor(CONDITION_BIT))
      this.#outlet.send(frame('host', this.machine.condition, this.#place(id)));
  }

  /** Sends a sample if there is one; those that follow are published to its shard. */
  begin(): void {
    const source = this.#source;
    if (source === undefined || source.shard !== undefined) return;
    const first = source.broadcast.newest();
    if (first instanceof Promise) this.#outlet.watch(first.then((sample) => this.#beginWith(source, sample)));
    else if (first === undefined) source.broadcast.wait(this);
    else this.#beginWith(source, first);
  }

  missSample(): void {
    this.#leaveShard();
    this.#unsent |= SAMPLE_BIT;
    this.#outlet.waits(this);
  }

  sendEvent(json: string): void {
    if (!this.#outlet.isFull) this.#outlet.send(frameOf('event', json, this.#place(undefined)));
  }

  sendState(state: TopicState): void {
    const bit = bitOf(state.name);
    const json = state.newestFor(this);
    const beginning = this.#beginning.find((each) => each.state === state);
    if (beginning !== undefined) beginning.hasChanged = true;
    if (beginning !== undefined || json === undefined || !this.#hasCapacityFor(bit)) return;
    this.#outlet.send(frameOf(TOPIC_ROWS[state.name].event, json, this.#place(undefined)));
  }

  /** Sends what there was no room for, in its present form. */
  flush(): void {
    const unsent = this.#unsent;
    this.#unsent = 0;
    if ((unsent & CONDITION_BIT) !== 0) this.sendCondition();
    if ((unsent & SAMPLE_BIT) !== 0) this.begin();
    for (const state of this.#states) if ((unsent & bitOf(state.name)) !== 0) this.sendState(state);
  }

  /** Rejects only when something is broken. */
  async #sendSnapshots(bits: number, id: MessageId | undefined): Promise<void> {
    const asked = this.#states
      .map((state): Beginning => ({ bit: bitOf(state.name), state, hasChanged: false }))
      .filter(({ bit }) => (bits & bit) !== 0);
    this.#beginning = [...this.#beginning.filter(({ bit }) => (bits & bit) === 0), ...asked];
    if ((bits & EVENTS_BIT) !== 0) {
      const hasEvents = this.machine.hasEvents();
      if (hasEvents instanceof Promise ? !(await hasEvents) : !hasEvents) this.#reportNoEvents(id);
    }
    await Promise.all(asked.map((beginning) => this.#sendSnapshot(beginning, id)));
  }

  async #sendSnapshot(beginning: Beginning, id: MessageId | undefined): Promise<void> {
    const { bit, state } = beginning;
    const { text, json } = await this.#snapshotOf(state, id);
    this.#beginning = this.#beginning.filter((each) => each !== beginning);
    if (!this.#states.includes(state)) return;
    // Where there is no room, its newest payload follows without the id.
    if (this.#hasCapacityFor(bit)) this.#outlet.send(text);
    if (beginning.hasChanged && state.newestFor(this) !== json) this.sendState(state);
  }

  /** `json`: its payload; undefined: it failed. */
  async #snapshotOf(state: TopicState, id: MessageId | undefined): Promise<{ text: string; json?: string }> {
    try {
      const json = await state.begin(this);
      return { text: frameOf(TOPIC_ROWS[state.name].event, json, this.#place(id)), json };
    } catch (error) {
      return { text: topicFailureFrame(state.name, error, this.#place(id)) };
    }
  }

  #place(id: MessageId | undefined): Place {
    return { host: this.isNamed ? this.machine.id : undefined, id };
  }

  #hasCapacityFor(bit: number): boolean {
    if (!this.#outlet.isFull) return true;
    this.#unsent |= bit;
    this.#outlet.waits(this);
    return false;
  }

  #reportNoEvents(id: MessageId | undefined): void {
    if ((this.#topics.states & EVENTS_BIT) === 0) return;
    const { message } = featureDisabled('events');
    this.#outlet.send(errorFrame('FEATURE_DISABLED', message, this.#place(id), { topic: 'events' }));
  }

  #followEvents(states: number): void {
    const isWanted = (states & EVENTS_BIT) !== 0;
    if (isWanted === ((this.#topics.states & EVENTS_BIT) !== 0)) return;
    if (isWanted) this.#broadcasts.addEvents(this.machine, this);
    else this.#broadcasts.removeEvents(this.machine, this);
  }

  #followStates(states: number): void {
    const isWanted = (name: TopicName) => (states & bitOf(name)) !== 0;
    const before = this.#states;
    if (states === 0 && before.length === 0) return;
    for (const { name } of before)
      if (!isWanted(name)) this.#broadcasts.removeState(this.machine, name, this);
    this.#states = TOPIC_NAMES.filter(isWanted).map(
      (name) =>
        before.find((state) => state.name === name) ?? this.#broadcasts.addState(this.machine, name, this),
    );
  }

  #followSamples(view: View | undefined, id: MessageId | undefined): void {
    const before = this.#source;
    // In this order, so that a change of view does not end the stream from the machine.
    const broadcast = view && this.#broadcasts.openSamples(this.machine, view, this.#intervalMs);
    if (before !== undefined) {
      this.#leaveShard();
      before.broadcast.stopWaiting(this);
      this.#broadcasts.closeSamples(before.broadcast);
    }
    this.#source = broadcast && { broadcast, shard: undefined };
    this.#answers = undefined;
    if (broadcast === undefined) return;
    this.#answers = id;
    this.begin();
  }

  #beginWith(source: Source, sample: MachineSample): void {
    // It may have closed since, or subscribed to other sections.
    if (source !== this.#source || source.shard !== undefined || !this.#hasCapacityFor(SAMPLE_BIT)) return;
    const id = this.#answers;
    this.#answers = undefined;
    this.#outlet.send(frameOf('system_stats', sample.payload(source.broadcast.view), this.#place(id)));
    if (source !== this.#source) return;
    source.shard = source.broadcast.join(this);
    this.#outlet.join(source.shard.topic);
  }

  #leaveShard(): void {
    const source = this.#source;
    if (source?.shard === undefined) return;
    this.#outlet.leave(source.shard.topic);
    source.broadcast.leave(source.shard, this);
    source.shard = undefined;
  }
}

/** The message for a topic that cannot be sent. Throws any other error than a ServiceError. */
export function topicFailureFrame(name: TopicName, error: unknown, place: Place): string {
  if (!(error instanceof ServiceError)) throw error;
  const { group } = TOPIC_ROWS[name];
  const refusal = refusalFrame(refusalOfTopic(name, error), place);
  return refusal ?? frame(`${group}_feedback`, failureOf('list', error) ?? {}, place);
}

/** Names the topic in the refusal of it: by the configuration, or for the key of a hub. */
function refusalOfTopic(topic: TopicName, error: ServiceError): ServiceError {
  const { code, message, details } = error;
  if (code === 'feature_disabled') return new ServiceError(code, featureDisabled(topic).message, { topic });
  return code === 'scope_required' ? new ServiceError(code, message, { topic, ...details }) : error;
}
