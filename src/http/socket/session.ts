/** One client of /api/ws: what it follows, and the way of its messages to what answers them. */
import type { AccessRequest } from '../../access/request.ts';
import type { Delivery } from '../../commands/command.ts';
import { type View, viewOf } from '../../stats/view.ts';
import type { MessageId, OpData, SocketRequest } from '../../wire/socket.ts';
import { readSocketMessage } from '../../wire/socket.ts';
import { CLOSE_CODES, type Socket, type SocketEvents } from '../uws/socket.ts';
import type { Asker } from './commands.ts';
import { errorText, eventText } from './events.ts';
import { readEnabled } from './queries.ts';
import { MessageRate } from './rate.ts';
import type { Shard } from './shards.ts';
import type { State, StateFollower } from './states.ts';
import { namesOf, readTopics, type Topics } from './topics.ts';

/** What a session needs of all that it shares with others. */
export interface Shared {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly states: readonly State[];
  /** Counts the demand for views. */
  readonly moveDemand: (from: View | undefined, to: View | undefined) => void;
  readonly joinShard: (view: View) => Shard;
  readonly leaveShard: (shard: Shard) => void;
  /** The stats of `view` as a message: now if they are young, else as a promise. */
  readonly readStats: (view: View, id: MessageId | undefined) => string | Promise<string>;
  /** Answers what is asked of the machine, or asked to be done. Rejects only when something is broken. */
  readonly answer: (asker: Session, request: SocketRequest) => Promise<void>;
  readonly onBroken: (session: Session, error: unknown) => void;
  /** Which states are followed has changed. */
  readonly onFollowed: () => void;
  readonly onClosed: (session: Session) => void;
}

/** A longer message closes the socket. */
const MOST_MESSAGE_BYTES = 16 * 1024;

const NOTHING: Topics = { sections: 0, states: 0 };

export class Session implements SocketEvents, Asker, StateFollower {
  readonly client: AccessRequest;
  readonly #shared: Shared;
  readonly #rate: MessageRate;
  #socket: Socket | undefined;
  #topics = NOTHING;
  #withDetail = false;
  /** The view that is counted as demand. */
  #view: View | undefined;
  #shard: Shard | undefined;
  /** Bits of the states that there was no room for. */
  #untold = 0;

  constructor(shared: Shared, client: AccessRequest) {
    this.#shared = shared;
    this.client = client;
    this.#rate = new MessageRate();
  }

  get withDetail(): boolean {
    return this.#withDetail;
  }

  get isFull(): boolean {
    return this.#socket?.isFull ?? false;
  }

  /** Whether it follows the state with this bit. */
  follows(bit: number): boolean {
    return (this.#topics.states & bit) !== 0;
  }

  start(socket: Socket, greeting: string): void {
    this.#socket = socket;
    socket.send(greeting);
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  sendAndTell(text: string, onDelivered: (delivery: Delivery) => void): void {
    if (this.#socket === undefined) onDelivered('closed');
    else this.#socket.sendAndTell(text, onDelivered);
  }

  cork(body: () => void): void {
    this.#socket?.cork(body);
  }

  end(code: (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES], reason: string): void {
    this.#socket?.end(code, reason);
  }

  cut(): void {
    this.#socket?.cut();
  }

  tellState(state: State, text: string): void {
    if (this.isFull) this.#untold |= state.bit;
    else this.send(text);
  }

  onDrained(): void {
    const untold = this.#untold;
    this.#untold = 0;
    for (const state of this.#shared.states) if ((untold & state.bit) !== 0) state.tellNewest(this);
  }

  onClosed(): void {
    this.#socket = undefined;
    this.#follow(NOTHING);
    this.#shared.onClosed(this);
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    if (bytes.length > MOST_MESSAGE_BYTES) {
      this.end(CLOSE_CODES.tooBig, `a message may have ${MOST_MESSAGE_BYTES} bytes at most`);
      return;
    }
    const grant = this.#rate.take(this.#shared.now());
    if (grant === 'flood') {
      this.end(CLOSE_CODES.policy, 'too many messages');
      return;
    }
    if (isBinary) {
      this.send(errorText('PARSE_ERROR', 'Messages must be text.', undefined));
      return;
    }
    const message = readSocketMessage(bytes.toString());
    const { id } = message.isSound ? message.request : message.flaw;
    if (grant === 'refused') this.send(errorText('RATE_LIMITED', 'Too many messages; wait a second.', id));
    else if (message.isSound) this.#take(message.request);
    else {
      const { code, message: sentence, allowed } = message.flaw;
      this.send(errorText(code, sentence, id, allowed && { allowed }));
    }
  }

  #take(request: SocketRequest): void {
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
        this.#watch(this.#shared.answer(this, request));
    }
  }

  /** Nothing in it should fail. */
  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.#shared.onBroken(this, error));
  }

  async #subscribe({ topics, mode, detail }: OpData<'subscribe'>, id: MessageId | undefined): Promise<void> {
    const { unknown, ...asked } = readTopics(topics);
    const isAdded = mode === 'add';
    const before = isAdded ? this.#topics : NOTHING;
    this.#withDetail = detail || (isAdded && this.#withDetail);
    const next = { sections: before.sections | asked.sections, states: before.states | asked.states };
    const isMoved = this.#follow(next, asked.sections !== 0);
    this.send(eventText('subscribed', { topics: [...namesOf(next)], unknown: [...unknown] }, id));
    const snapshots = this.#shared.states
      .filter(({ bit }) => (asked.states & bit) !== 0)
      .map((state) => this.#tellSnapshot(state, id));
    if (isMoved) snapshots.push(this.#tellStats(id));
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
    if (isMoved) this.#watch(this.#tellStats(undefined));
  }

  /** Whether its stats must begin anew, as they do when they are other ones or `isAsked`. */
  #follow(next: Topics, isAsked = false): boolean {
    for (const state of this.#shared.states) {
      if ((next.states & state.bit) !== 0) state.follow(this);
      else state.unfollow(this);
    }
    this.#untold &= next.states;
    const isChanged = next.states !== this.#topics.states;
    this.#topics = next;
    if (isChanged) this.#shared.onFollowed();
    const view = next.sections === 0 ? undefined : viewOf(next.sections, this.#withDetail);
    if (view === this.#view && !isAsked) return false;
    this.#shared.moveDemand(this.#view, view);
    this.#view = view;
    this.#leaveShard();
    return view !== undefined;
  }

  #leaveShard(): void {
    if (this.#shard === undefined) return;
    this.#socket?.leave(this.#shard.topic);
    this.#shared.leaveShard(this.#shard);
    this.#shard = undefined;
  }

  /** Sends the stats as they are, then lets those of each tick come. */
  async #tellStats(id: MessageId | undefined): Promise<void> {
    const view = this.#view;
    if (view === undefined) return;
    const stats = this.#shared.readStats(view, id);
    const text = typeof stats === 'string' ? stats : await stats;
    // Meanwhile it may have closed, or asked for others.
    if (this.#socket === undefined || view !== this.#view) return;
    this.send(text);
    if (this.#shard !== undefined || this.#socket === undefined) return;
    this.#shard = this.#shared.joinShard(view);
    this.#socket.join(this.#shard.topic);
  }

  async #tellSnapshot(state: State, id: MessageId | undefined): Promise<void> {
    this.send(await readEnabled(state, id, () => state.begin(this, id)));
  }
}
