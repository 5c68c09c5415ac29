/** One /api/ws client: its subscriptions, and the dispatch of its messages. */
import type { Clock } from '../../clock.ts';
import type { Delivery } from '../../commands/command.ts';
import type { SampleSource } from '../../stats/source.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MessageId, OpData, SocketRequest } from '../../wire/socket.ts';
import { readSocketMessage } from '../../wire/socket.ts';
import type { Caller } from '../clients/caller.ts';
import { CLOSE_CODES, type Socket, type SocketEvents } from '../engine.ts';
import type { Asker } from './commands.ts';
import { errorText, eventText } from './events.ts';
import { answerRequest, disabledText, type Queried, readEnabled, readStats } from './queries.ts';
import { type Grant, MessageRate } from './rate.ts';
import type { Shard, StatsShards } from './shards.ts';
import type { State, StateFollower } from './states.ts';
import { EVENTS_BIT, namesOf, readTopics, type Topics } from './topic-names.ts';

/** Shared by all sessions. */
export interface Shared extends Queried {
  readonly owner: SessionOwner;
  readonly clock: Clock;
  readonly source: SampleSource;
  readonly shards: StatsShards;
}

export interface SessionOwner {
  onBroken(session: Session, error: unknown): void;
  /** It sends more messages than the rate allows. */
  onFlood(session: Session): void;
  onClosed(session: Session): void;
}

/** A longer message closes the socket. */
const MAX_MESSAGE_BYTES = 16 * 1024;

const NOTHING: Topics = { sections: 0, states: 0 };

export class Session implements SocketEvents, Asker, StateFollower {
  readonly caller: Caller;
  readonly #shared: Shared;
  readonly #rate: MessageRate;
  #socket: Socket | undefined;
  #topics = NOTHING;
  #withDetail = false;
  /** The view that is counted as demand. */
  #view: View | undefined;
  #shard: Shard | undefined;
  /** Bits of the states that there was no room for. */
  #unsent = 0;

  constructor(shared: Shared, caller: Caller) {
    this.#shared = shared;
    this.caller = caller;
    this.#rate = new MessageRate();
  }

  get withDetail(): boolean {
    return this.#withDetail;
  }

  get isFull(): boolean {
    return this.#socket?.isFull ?? false;
  }

  /** Whether it follows one of the states in this set of bits. */
  follows(bits: number): boolean {
    return (this.#topics.states & bits) !== 0;
  }

  start(socket: Socket, greeting: string): void {
    this.#socket = socket;
    socket.send(greeting);
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void {
    if (this.#socket === undefined) onDelivered('closed');
    else this.#socket.sendTracked(text, onDelivered);
  }

  cork(body: () => void): void {
    this.#socket?.cork(body);
  }

  end(code: (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES], reason: string): void {
    this.#socket?.end(code, reason);
  }

  /** Reports to the ledger what is kept for it. */
  reportKept(): void {
    this.#socket?.reportKept();
  }

  cut(): void {
    this.#socket?.cut();
  }

  sendState(state: State, text: string): void {
    if (this.isFull) this.#unsent |= state.bit;
    else this.send(text);
  }

  /** Sends an event of a watch rule, which is lost for a client without room. */
  sendEvent(text: string): void {
    if (this.follows(EVENTS_BIT) && !this.isFull) this.send(text);
  }

  onDrained(): void {
    const unsent = this.#unsent;
    this.#unsent = 0;
    for (const state of this.#shared.states) if ((unsent & state.bit) !== 0) state.sendNewest(this);
  }

  onClosed(): void {
    this.#socket = undefined;
    this.#follow(NOTHING);
    this.#shared.owner.onClosed(this);
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    if (bytes.length > MAX_MESSAGE_BYTES) {
      this.end(CLOSE_CODES.tooBig, `a message may have ${MAX_MESSAGE_BYTES} bytes at most`);
      return;
    }
    const grant = this.#take();
    if (grant === 'flood') return;
    if (isBinary) {
      this.send(errorText('PARSE_ERROR', 'Messages must be text.', undefined));
      return;
    }
    const message = readSocketMessage(bytes.toString());
    const { id } = message.isSound ? message.request : message.flaw;
    if (grant === 'refused') this.send(errorText('RATE_LIMITED', 'Too many messages; wait a second.', id));
    else if (message.isSound) this.#carryOut(message.request);
    else {
      const { code, message: sentence, allowed } = message.flaw;
      this.send(errorText(code, sentence, id, allowed && { allowed }));
    }
  }

  onControlFrame(): void {
    this.#take();
  }

  /** Takes a message or a control frame from the rate; beyond it the socket is closed. */
  #take(): Grant {
    const grant = this.#rate.take(this.#shared.clock.now());
    if (grant === 'flood') this.#shared.owner.onFlood(this);
    return grant;
  }

  #carryOut(request: SocketRequest): void {
    const { op, id, data } = request;
    switch (op) {
      case 'ping':
        this.send(eventText('pong', {}, id));
        return;
      case 'subscribe':
        this.#watch(this.#subscribe(data, id));
        return;
      case 'unsubscribe':
        this.#unsubscribe(data, id);
        return;
      default:
        this.#watch(answerRequest(this.#shared, this, request));
    }
  }

  /** For work that must not fail. */
  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.#shared.owner.onBroken(this, error));
  }

  async #subscribe({ topics, mode, detail }: OpData<'subscribe'>, id: MessageId | undefined): Promise<void> {
    const { unknown, ...asked } = readTopics(topics);
    const isAdded = mode === 'add';
    const before = isAdded ? this.#topics : NOTHING;
    this.#withDetail = detail || (isAdded && this.#withDetail);
    const next = { sections: before.sections | asked.sections, states: before.states | asked.states };
    const isMoved = this.#follow(next, asked.sections !== 0);
    this.send(eventText('subscribed', { topics: [...namesOf(next)], unknown: [...unknown] }, id));
    if ((asked.states & EVENTS_BIT) !== 0 && !this.#shared.history.isOn)
      this.send(disabledText('events', id, { topic: 'events' }));
    const snapshots = this.#shared.states
      .filter(({ bit }) => (asked.states & bit) !== 0)
      .map((state) => this.#sendSnapshot(state, id));
    if (isMoved) snapshots.push(this.#sendStats(id));
    await Promise.all(snapshots);
  }

  #unsubscribe({ topics }: OpData<'unsubscribe'>, id: MessageId | undefined): void {
    const { unknown, ...asked } =
      topics === undefined ? { ...this.#topics, unknown: [] } : readTopics(topics);
    const next = {
      sections: this.#topics.sections & ~asked.sections,
      states: this.#topics.states & ~asked.states,
    };
    const isMoved = this.#follow(next);
    const more = unknown.length === 0 ? {} : { unknown: [...unknown] };
    this.send(eventText('subscribed', { topics: [...namesOf(next)], ...more }, id));
    if (isMoved) this.#watch(this.#sendStats(undefined));
  }

  /** Whether stats must be sent anew, because the view is another one or `isAsked`. */
  #follow(next: Topics, isAsked = false): boolean {
    for (const state of this.#shared.states) {
      if ((next.states & state.bit) !== 0) state.follow(this);
      else state.unfollow(this);
    }
    this.#unsent &= next.states;
    this.#topics = next;
    const view = next.sections === 0 ? undefined : viewOf(next.sections, this.#withDetail);
    if (view === this.#view && !isAsked) return false;
    // In this order, so that a change of view does not stop the clock.
    if (view !== undefined) this.#shared.source.subscribe(view);
    if (this.#view !== undefined) this.#shared.source.unsubscribe(this.#view);
    this.#view = view;
    this.#leaveShard();
    return view !== undefined;
  }

  #leaveShard(): void {
    if (this.#shard === undefined) return;
    this.#socket?.leave(this.#shard.topic);
    this.#shared.shards.leave(this.#shard);
    this.#shard = undefined;
  }

  /** Sends the latest stats, then joins the shard that sends those of each tick. */
  async #sendStats(id: MessageId | undefined): Promise<void> {
    const view = this.#view;
    if (view === undefined) return;
    const stats = readStats(this.#shared.source, view, id);
    const text = typeof stats === 'string' ? stats : await stats;
    // Meanwhile it may have closed, or subscribed to others.
    if (this.#socket === undefined || view !== this.#view) return;
    this.send(text);
    if (this.#shard !== undefined || this.#socket === undefined) return;
    this.#shard = this.#shared.shards.join(view);
    this.#socket.join(this.#shard.topic);
  }

  async #sendSnapshot(state: State, id: MessageId | undefined): Promise<void> {
    this.send(await readEnabled(state, id, () => state.begin(this, id)));
  }
}
