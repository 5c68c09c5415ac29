/** What one socket has subscribed to of one machine: samples, states, and whether the machine is there. */
import { featureDisabled, ServiceError } from '../../errors.ts';
import { failureOf } from '../../http/socket/feedback.ts';
import { bitOf, EVENTS_BIT, TOPIC_NAMES, type Topics } from '../../http/socket/topic-names.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { Feed, FeedFollower } from './feed.ts';
import type { Feeds } from './feeds.ts';
import type { EventFollower } from './host-events.ts';
import { errorFrame, frame, frameOf, type Place, refusalFrame } from './messages.ts';
import type { SampleLane, SocketHost } from './rooms.ts';
import { type HostState, STATE_ROWS, type StateFollower } from './state.ts';

/** The socket of a subscription. */
export interface Outlet {
  readonly isOpen: boolean;
  readonly isFull: boolean;
  send(text: string): void;
  /** `flush` is wanted when it has room again. */
  waits(subscription: Subscription): void;
}

export const NOTHING: Topics = { sections: 0, states: 0 };

/** Beside the bits of the topics, for what there was no room for. */
const SAMPLE_BIT = 1 << 16;
const CONDITION_BIT = 1 << 17;

/** Where a view's samples come from. */
interface Source {
  readonly view: View;
  readonly lane: SampleLane;
  readonly feed: Feed;
}

export class Subscription implements FeedFollower, StateFollower, EventFollower {
  readonly host: SocketHost;
  readonly isNamed: boolean;
  readonly #outlet: Outlet;
  readonly #feeds: Feeds;
  #topics = NOTHING;
  #withDetail = false;
  #source: Source | undefined;
  readonly #states = new Map<number, HostState>();
  /** States whose snapshot is being read: changes come after it. */
  readonly #beginning = new Map<number, { hasChanged: boolean }>();
  sent = 0;
  /** The next sample is the answer to this message. */
  #answers: MessageId | undefined;
  #unsent = 0;

  /** `isNamed`: its messages have the id of the machine. */
  constructor(host: SocketHost, isNamed: boolean, outlet: Outlet, feeds: Feeds) {
    this.host = host;
    this.isNamed = isNamed;
    this.#outlet = outlet;
    this.#feeds = feeds;
  }

  get topics(): Topics {
    return this.#topics;
  }

  get withDetail(): boolean {
    return this.#withDetail;
  }

  /** Of the feed: only while it follows one. */
  get view(): View {
    return this.#source?.view ?? viewOf(0, false);
  }

  /** Follows `topics` and nothing else. The samples are sent anew where the view is another one, or `isAsked`. */
  follow(topics: Topics, withDetail: boolean, isAsked: boolean, id: MessageId | undefined): void {
    this.#followEvents(topics.states);
    this.#topics = topics;
    this.#withDetail = withDetail;
    for (const name of TOPIC_NAMES) this.#followState(bitOf(name), name);
    this.#unsent &= topics.states | SAMPLE_BIT | CONDITION_BIT;
    const view = topics.sections === 0 ? undefined : viewOf(topics.sections, withDetail);
    if (view === this.#source?.view && !isAsked) return;
    this.#followSamples(view, id);
  }

  close(): void {
    this.follow(NOTHING, false, false, undefined);
  }

  sendCondition(id?: MessageId): void {
    if (this.#hasRoomFor(CONDITION_BIT))
      this.#outlet.send(frame('host', this.host.condition, this.#place(id)));
  }

  sendSample(): void {
    const feed = this.#source?.feed;
    if (feed === undefined) return;
    if (!this.#hasRoomFor(SAMPLE_BIT)) {
      feed.skip(this);
      return;
    }
    const text = feed.take(this);
    if (text === undefined) return;
    const id = this.#answers;
    this.#answers = undefined;
    this.#outlet.send(id === undefined ? text : this.#withId(text, id));
  }

  sendEvent(json: string): void {
    if (!this.#outlet.isFull) this.#outlet.send(frameOf('event', json, this.#place(undefined)));
  }

  sendState(state: HostState): void {
    const bit = bitOf(state.name);
    const json = state.newestFor(this);
    const beginning = this.#beginning.get(bit);
    if (beginning !== undefined) beginning.hasChanged = true;
    if (beginning !== undefined || json === undefined || !this.#hasRoomFor(bit)) return;
    this.#outlet.send(frameOf(STATE_ROWS[state.name].event, json, this.#place(undefined)));
  }

  /** Sends what there was no room for, in its present form. */
  flush(): void {
    const unsent = this.#unsent;
    this.#unsent = 0;
    if ((unsent & CONDITION_BIT) !== 0) this.sendCondition();
    if ((unsent & SAMPLE_BIT) !== 0) this.sendSample();
    for (const [bit, state] of this.#states) if ((unsent & bit) !== 0) this.sendState(state);
  }

  /** Sends the states in `bits` as answers to a message. Never rejects, unless something is broken. */
  async sendSnapshots(bits: number, id: MessageId | undefined): Promise<void> {
    const asked = [...this.#states]
      .filter(([bit]) => (bits & bit) !== 0)
      .map(([bit, state]) => ({ bit, state, beginning: { hasChanged: false } }));
    for (const { bit, beginning } of asked) this.#beginning.set(bit, beginning);
    if ((bits & EVENTS_BIT) !== 0) await this.#reportNoEvents(id);
    for (const { bit, state, beginning } of asked) {
      const { text, json } = await this.#snapshotOf(state, id);
      // Another message may have asked for it since.
      if (this.#beginning.get(bit) === beginning) this.#beginning.delete(bit);
      if (this.#states.get(bit) !== state) continue;
      // Where there is no room, its newest payload follows without the id.
      if (this.#hasRoomFor(bit)) this.#outlet.send(text);
      if (beginning.hasChanged && state.newestFor(this) !== json) this.sendState(state);
    }
  }

  /** `json`: its payload; undefined: it failed. */
  async #snapshotOf(state: HostState, id: MessageId | undefined): Promise<{ text: string; json?: string }> {
    try {
      const json = await state.begin(this);
      return { text: frameOf(STATE_ROWS[state.name].event, json, this.#place(id)), json };
    } catch (error) {
      return { text: failureFrame(state.name, error, this.#place(id)) };
    }
  }

  #place(id: MessageId | undefined): Place {
    return { host: this.isNamed ? this.host.id : undefined, id };
  }

  #hasRoomFor(bit: number): boolean {
    if (!this.#outlet.isFull) return true;
    this.#unsent |= bit;
    this.#outlet.waits(this);
    return false;
  }

  async #reportNoEvents(id: MessageId | undefined): Promise<void> {
    if (!(await this.#feeds.isWithoutEvents(this.host)) || (this.#topics.states & EVENTS_BIT) === 0) return;
    const { message } = featureDisabled('events');
    this.#outlet.send(errorFrame('FEATURE_DISABLED', message, this.#place(id), { topic: 'events' }));
  }

  #followEvents(states: number): void {
    const isWanted = (states & EVENTS_BIT) !== 0;
    if (isWanted === ((this.#topics.states & EVENTS_BIT) !== 0)) return;
    if (isWanted) this.#feeds.followEvents(this.host, this);
    else this.#feeds.unfollowEvents(this.host, this);
  }

  #followState(bit: number, name: HostState['name']): void {
    const isWanted = (this.#topics.states & bit) !== 0;
    if (isWanted === this.#states.has(bit)) return;
    if (isWanted) this.#states.set(bit, this.#feeds.followState(this.host, name, this));
    else {
      this.#states.delete(bit);
      this.#feeds.unfollowState(this.host, name, this);
    }
  }

  #followSamples(view: View | undefined, id: MessageId | undefined): void {
    const before = this.#source;
    // In this order, so that a change of view does not end the stream from the machine.
    const lane = view && this.host.laneOf(view);
    if (view !== undefined) lane?.subscribe(view);
    if (before !== undefined) {
      this.#feeds.unfollow(before.lane, this);
      before.lane.unsubscribe(before.view);
    }
    this.#source = undefined;
    this.#answers = undefined;
    if (view === undefined || lane === undefined) return;
    this.#source = { view, lane, feed: this.#feeds.follow(this.host, lane, this) };
    this.#answers = id;
    this.sendSample();
  }

  /** `text`: a sample's message, whose `data` is its last key. */
  #withId(text: string, id: MessageId): string {
    const data = text.indexOf('"data":');
    return `${text.slice(0, data)}"id":${JSON.stringify(id)},${text.slice(data)}`;
  }
}

/** Why a state is not sent. Throws any other error than a ServiceError. */
export function failureFrame(name: HostState['name'], error: unknown, place: Place): string {
  if (!(error instanceof ServiceError)) throw error;
  const refusal = refusalFrame(
    error.code === 'feature_disabled' ? new ServiceError(error.code, error.message, { topic: name }) : error,
    place,
  );
  if (refusal !== undefined) return refusal;
  return frame(`${STATE_ROWS[name].group}_feedback`, failureOf('list', error) ?? {}, place);
}
