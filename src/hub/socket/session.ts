/** One client of `/api/ws` or `/api/hosts/{id}/ws` of a hub: its subscriptions, and the dispatch of its messages. */
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import type { Caller } from '../../http/clients/caller.ts';
import { CLOSE_CODES, type CloseCode, type Socket, type SocketEvents } from '../../http/engine.ts';
import { type Grant, MessageRate } from '../../http/socket/rate.ts';
import { type FleetRequest, type HubMessage, readHubMessage } from '../../wire/hub-socket.ts';
import { type MessageId, readSocketMessage, type SocketRequest } from '../../wire/socket.ts';
import type { Feeds } from './feeds.ts';
import { FleetViewer } from './fleet-follower.ts';
import { errorFrame, frame, frameOf, NOWHERE, type Place, refusalFrame } from './messages.ts';
import { answerRequest } from './requests.ts';
import type { SocketHost, SocketRooms } from './rooms.ts';
import { subscribe, unsubscribe } from './subscribing.ts';
import { type Outlet, Subscription } from './subscription.ts';

/** Shared by all sessions. */
export interface Shared {
  readonly owner: SessionOwner;
  readonly rooms: SocketRooms;
  readonly feeds: Feeds;
  readonly clock: Pick<Clock, 'now'>;
}

export interface SessionOwner {
  onBroken(session: Session, error: unknown): void;
  /** It sends more messages than the rate allows. */
  onFlood(session: Session): void;
  onClosed(session: Session): void;
}

/** A longer message closes the socket. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Machines that one socket follows; more are what the topic `fleet` is for. */
const MAX_SUBSCRIPTIONS = 1024;

export class Session implements SocketEvents, Outlet {
  readonly caller: Caller;
  /** The one machine of this socket; undefined: its messages name machines. */
  readonly only: SocketHost | undefined;
  readonly #shared: Shared;
  readonly #rate = new MessageRate();
  #socket: Socket | undefined;
  readonly #subscriptions = new Map<string, Subscription>();
  /** Those that something waits for. */
  readonly #waiting = new Set<Subscription>();
  #fleet: FleetViewer | undefined;

  constructor(shared: Shared, caller: Caller, only: SocketHost | undefined) {
    this.#shared = shared;
    this.caller = caller;
    this.only = only;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen ?? false;
  }

  get isFull(): boolean {
    return this.#socket?.isFull ?? false;
  }

  start(socket: Socket, greeting: string): void {
    this.#socket = socket;
    socket.send(greeting);
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  waits(subscription: Subscription): void {
    this.#waiting.add(subscription);
  }

  end(code: CloseCode, reason: string): void {
    this.#socket?.end(code, reason);
  }

  cut(): void {
    this.#socket?.cut();
  }

  /** The condition of a machine has changed, or the hub no longer has it. */
  onCondition(id: string): void {
    const subscription = this.#subscriptions.get(id);
    const host = subscription?.host ?? this.only;
    if (host?.id !== id) return;
    if (this.#shared.rooms.find(id) === host) {
      subscription?.sendCondition();
      return;
    }
    this.drop(id);
    if (this.only === undefined) this.send(unknownFrame(id, undefined));
    else this.end(CLOSE_CODES.goingAway, 'the hub no longer has this machine');
  }

  /** Whether it follows one of the topics in this set of bits, of this machine. */
  follows(id: string, bits: number): boolean {
    return ((this.#subscriptions.get(id)?.topics.states ?? 0) & bits) !== 0;
  }

  findSubscription({ id }: SocketHost): Subscription | undefined {
    return this.#subscriptions.get(id);
  }

  /** Its subscription of a machine, new if it has none. Throws ServiceError where it has too many. */
  subscriptionOf(host: SocketHost): Subscription {
    const known = this.#subscriptions.get(host.id);
    if (known !== undefined) return known;
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new ServiceError('too_many_streams', `A socket follows ${MAX_SUBSCRIPTIONS} machines at most.`);
    const subscription = new Subscription(host, this.only === undefined, this, this.#shared.feeds);
    this.#subscriptions.set(host.id, subscription);
    return subscription;
  }

  drop(id: string): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined) return;
    this.#subscriptions.delete(id);
    this.#waiting.delete(subscription);
    subscription.close();
  }

  placeOf({ id: host }: Pick<SocketHost, 'id'>, id: MessageId | undefined): Place {
    return { host: this.only === undefined ? host : undefined, id };
  }

  onDrained(): void {
    for (const subscription of this.#waiting) {
      if (this.isFull) return;
      this.#waiting.delete(subscription);
      subscription.flush();
    }
    if (!this.isFull) this.#fleet?.flush();
  }

  onClosed(): void {
    this.#socket = undefined;
    this.#dropAll();
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
      this.send(errorFrame('PARSE_ERROR', 'Messages must be text.', NOWHERE));
      return;
    }
    const message = this.#read(bytes.toString());
    const { id } = message.isSound ? message.request : message.flaw;
    const place = { host: undefined, id };
    if (grant === 'refused')
      this.send(errorFrame('RATE_LIMITED', 'Too many messages; wait a second.', place));
    else if (!message.isSound) {
      const { code, message: sentence, allowed } = message.flaw;
      this.send(errorFrame(code, sentence, place, allowed && { allowed }));
    } else if (message.hosts === undefined) this.#carryOut(message.request);
    else this.#watch(this.#carryOutAt(message.hosts, message.request));
  }

  onControlFrame(): void {
    this.#take();
  }

  #take(): Grant {
    const grant = this.#rate.take(this.#shared.clock.now());
    if (grant === 'flood') this.#shared.owner.onFlood(this);
    return grant;
  }

  #read(text: string): HubMessage {
    if (this.only === undefined) return readHubMessage(text);
    const read = readSocketMessage(text);
    return read.isSound ? { ...read, hosts: [this.only.id] } : read;
  }

  /** For work that must not fail. */
  #watch(work: Promise<void>): void {
    work.catch((error: unknown) => this.#shared.owner.onBroken(this, error));
  }

  /** One machine after the other, in the order of their names. */
  async #carryOutAt(ids: readonly string[], request: SocketRequest): Promise<void> {
    if (request.op === 'ping') {
      this.send(frame('pong', {}, { host: undefined, id: request.id }));
      return;
    }
    const snapshots: Promise<void>[] = [];
    for (const id of ids) {
      const host = this.#shared.rooms.find(id);
      if (host === undefined) this.send(unknownFrame(id, request.id));
      else if (request.op === 'subscribe') snapshots.push(subscribe(this, host, request.data, request.id));
      else if (request.op === 'unsubscribe') unsubscribe(this, host, request.data, request.id);
      else await answerRequest(this.#shared.rooms, this, host, request);
    }
    await Promise.all(snapshots);
  }

  #carryOut({ op, id, data }: FleetRequest): void {
    const place = { host: undefined, id };
    try {
      if (op === 'hosts') this.send(frameOf('hosts', this.#shared.rooms.list(data), place));
      else if (op === 'subscribe') {
        const viewer = new FleetViewer(this.#shared.rooms, data, this);
        this.#fleet?.leave();
        this.#fleet = viewer;
        this.send(frame('subscribed', { topics: ['fleet'], unknown: viewer.ignored }, place));
        viewer.sendWhole();
      } else {
        if (data.topics === undefined) this.#dropAll();
        this.#fleet?.leave();
        this.#fleet = undefined;
        this.send(frame('subscribed', { topics: [] }, place));
      }
    } catch (error) {
      const text = error instanceof ServiceError ? refusalFrame(error, place) : undefined;
      if (text === undefined) this.#shared.owner.onBroken(this, error);
      else this.send(text);
    }
  }

  #dropAll(): void {
    for (const id of [...this.#subscriptions.keys()]) this.drop(id);
    this.#fleet?.leave();
    this.#fleet = undefined;
  }
}

const unknownFrame = (host: string, id: MessageId | undefined): string =>
  errorFrame('NOT_FOUND', 'There is no machine of that id.', { host, id });
