/** One client of a WebSocket: its subscriptions, and the dispatch of its messages. */

import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import type { Delivery } from '../../commands/command.ts';
import { PLACES, QUOTAS, RATES } from '../../fairness/limits.ts';
import { Bucket } from '../../fairness/rate.ts';
import { CLOSE_CODES, type CloseCode, type Socket, type SocketEvents } from '../../http/engine.ts';
import type { Gate } from '../../http/gate.ts';
import type { Log } from '../../log/log.ts';
import type { Machine } from '../../machine/machine.ts';
import { allows } from '../../scopes.ts';
import { type FleetRequest, type HubMessage, readHubMessage } from '../../wire/hub-socket.ts';
import { type MessageId, type OpData, readSocketMessage, type SocketRequest } from '../../wire/socket.ts';
import type { Broadcasts } from './broadcasts.ts';
import { mayBeHub } from './hubs.ts';
import { errorFrame, frame, NOWHERE, type Place } from './messages.ts';
import type { Requester } from './socket-commands.ts';
import { type AllMachines, SocketFleet } from './socket-fleet.ts';
import { answerRequest } from './socket-requests.ts';
import { NOTHING, type Outlet, Subscription } from './subscription.ts';
import { namesOf, permittedTopics, readTopics } from './topics.ts';

/** Shared by all sessions. */
export interface SessionDeps {
  readonly owner: SessionOwner;
  /** undefined: there is no machine of this id that the caller may know. */
  readonly find: (id: string, caller: Caller) => Machine | undefined;
  /** undefined: a service, which shows one machine. */
  readonly fleet: AllMachines | undefined;
  readonly broadcasts: Broadcasts;
  readonly gate: Pick<Gate, 'hears' | 'noteRefusal'>;
  readonly clock: Pick<Clock, 'now' | 'sinceBoot'>;
  readonly log: Pick<Log, 'error' | 'audit'>;
}

export interface SessionOwner {
  onBroken(session: SocketSession, error: unknown): void;
  /** It sends more messages than the rate allows. */
  onFlood(session: SocketSession): void;
  onClosed(session: SocketSession): void;
}

/** More than a hub sends within the 5 s of its deadlines. */
const IDS = 1000;

export class SocketSession implements SocketEvents, Outlet, Requester {
  readonly caller: Caller;
  /** The one machine of this socket; undefined: its messages name machines. */
  readonly only: Machine | undefined;
  readonly owner = this;
  readonly #deps: SessionDeps;
  readonly #messages: Bucket;
  /** Answers RATE_LIMITED; beyond them the socket is closed. */
  readonly #refusals: Bucket;
  #socket: Socket | undefined;
  /** By the id of the machine. */
  readonly #subscriptions = new Map<string, Subscription>();
  /** Subscriptions with a waiter. */
  #waiting: Set<Subscription> | undefined;
  #fleet: SocketFleet | undefined;
  /** Ids of ops with a deadline, the oldest first. */
  #taken: Set<MessageId> | undefined;

  constructor(deps: SessionDeps, caller: Caller, only: Machine | undefined) {
    this.#deps = deps;
    this.caller = caller;
    this.only = only;
    const now = deps.clock.now();
    this.#messages = new Bucket(mayBeHub(caller) ? RATES.hubMessages : RATES.messages, now);
    this.#refusals = new Bucket(RATES.refusedMessages, now);
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

  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void {
    if (this.#socket === undefined) onDelivered('closed');
    else this.#socket.sendTracked(text, onDelivered);
  }

  cork(body: () => void): void {
    this.#socket?.cork(body);
  }

  join(topic: string): void {
    this.#socket?.join(topic);
  }

  leave(topic: string): void {
    this.#socket?.leave(topic);
  }

  waits(subscription: Subscription): void {
    this.#waiting ??= new Set();
    this.#waiting.add(subscription);
  }

  watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#deps.owner.onBroken(this, error));
  }

  end(code: CloseCode, reason: string): void {
    this.#socket?.end(code, reason);
  }

  cut(): void {
    this.#socket?.cut();
  }

  /** Reports to the quota what is kept for it. */
  reportBuffered(): void {
    this.#socket?.reportBuffered();
  }

  /** The condition of a machine has changed, or the hub no longer has it. */
  onCondition(id: string): void {
    const subscription = this.#subscriptions.get(id);
    const machine = subscription?.machine ?? this.only;
    if (machine?.id !== id) return;
    if (this.#deps.find(id, this.caller) === machine) {
      subscription?.sendCondition();
      return;
    }
    if (subscription !== undefined) this.#drop(subscription);
    if (this.only === undefined) this.send(unknownFrame(id, undefined));
    else this.end(CLOSE_CODES.goingAway, 'the hub no longer has this machine');
  }

  /** Whether it follows one of the topics in this set of bits, of this machine. */
  follows(id: string, bits: number): boolean {
    return ((this.#subscriptions.get(id)?.topics.states ?? 0) & bits) !== 0;
  }

  onDrained(): void {
    for (const subscription of this.#waiting ?? []) {
      if (this.isFull) return;
      this.#waiting?.delete(subscription);
      subscription.flush();
    }
    if (!this.isFull) this.#fleet?.flush();
  }

  onClosed(): void {
    this.#socket = undefined;
    this.#dropAll();
    this.#deps.owner.onClosed(this);
  }

  onMessage(bytes: Buffer, isBinary: boolean): void {
    if (bytes.length > QUOTAS.socketMessage.maxBytes) {
      this.end(CLOSE_CODES.tooBig, `a message may have ${QUOTAS.socketMessage.maxBytes} bytes at most`);
      return;
    }
    const grant = this.#take();
    if (grant === 'flood') return;
    if (!this.#deps.gate.hears(this.caller)) {
      this.cut();
      return;
    }
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
    else this.watch(this.#carryOutAt(message.hosts, message.request));
  }

  onControlFrame(): void {
    this.#take();
  }

  /** Takes a message or a control frame from the rate; beyond it the socket is closed. */
  #take(): 'granted' | 'refused' | 'flood' {
    const now = this.#deps.clock.now();
    if (this.#messages.takeOne(now)) return 'granted';
    if (this.#refusals.takeOne(now)) return 'refused';
    this.#deps.owner.onFlood(this);
    return 'flood';
  }

  #read(text: string): HubMessage {
    if (this.only === undefined) return readHubMessage(text);
    const read = readSocketMessage(text);
    return read.isSound ? { ...read, hosts: [this.only.id] } : read;
  }

  /** One machine after the other, in the order of their names. */
  async #carryOutAt(ids: readonly string[], request: SocketRequest): Promise<void> {
    const { op, id, data } = request;
    const { find, log, gate, clock } = this.#deps;
    if (op === 'ping') {
      this.send(frame('pong', { clock: clock.sinceBoot() }, { host: undefined, id }));
      return;
    }
    if (request.deadline !== undefined && this.#isRepeated(id)) return;
    const requester = this.#requesterFor(request);
    if (requester === undefined) {
      const text = 'via needs a key with the scope hub.';
      this.send(errorFrame('FORBIDDEN', text, { host: undefined, id }, { scope: 'hub' }));
      return;
    }
    for (const each of ids) {
      const machine = find(each, this.caller);
      if (machine === undefined) this.send(unknownFrame(each, id));
      else if (op === 'subscribe') this.#subscribe(machine, data, id);
      else if (op === 'unsubscribe') this.#unsubscribe(machine, data, id);
      else await answerRequest(machine, requester, request, this.placeOf(machine, id), { log, gate, clock });
    }
  }

  /** Whether an op has come twice: one that acts must act once, whatever is on its way. The first has the answer. */
  #isRepeated(id: MessageId | undefined): boolean {
    if (id === undefined) return false;
    this.#taken ??= new Set();
    if (this.#taken.has(id)) return true;
    const [oldest] = this.#taken.size < IDS ? [] : this.#taken;
    if (oldest !== undefined) this.#taken.delete(oldest);
    this.#taken.add(id);
    return false;
  }

  /** Returns the sender of a request: itself, or the client of a hub; undefined: it is no hub. */
  #requesterFor({ via }: SocketRequest): Requester | undefined {
    if (via === undefined) return this;
    const { caller } = this;
    const { key: hub } = caller;
    if (hub === undefined || !allows(caller.scopes, 'hub')) return undefined;
    return {
      caller: {
        ...caller,
        address: via.client,
        isKeyed: via.key !== undefined,
        via: { hub, key: via.key },
      },
      owner: this,
      send: (text) => this.send(text),
      sendTracked: (text, onDelivered) => this.sendTracked(text, onDelivered),
      cork: (body) => this.cork(body),
    };
  }

  #subscribe(
    machine: Machine,
    { topics, mode, detail, interval_seconds: seconds }: OpData<'subscribe'>,
    id: MessageId | undefined,
  ): void {
    const place = this.placeOf(machine, id);
    const { unknown, ...named } = readTopics(topics);
    const { asked, forbidden } = permittedTopics(named, this.caller.scopes);
    const subscription = this.#subscriptionOf(machine);
    if (subscription === undefined) {
      const text = `A socket follows ${PLACES.subscriptions.max} machines at most.`;
      this.send(errorFrame('TOO_MANY_STREAMS', text, place));
      return;
    }
    const isAdded = mode === 'add';
    const before = isAdded ? subscription.topics : NOTHING;
    const next = { sections: before.sections | asked.sections, states: before.states | asked.states };
    const refused = forbidden.length === 0 ? {} : { forbidden };
    this.send(frame('subscribed', { topics: namesOf(next), unknown, ...refused }, place));
    if (this.#showsConditions && (next.sections !== 0 || next.states !== 0)) subscription.sendCondition(id);
    const earlier = isAdded && subscription.detail;
    const wider = detail === true || earlier === true || detail || earlier;
    const intervalMs = seconds === undefined && isAdded ? subscription.intervalMs : (seconds ?? 0) * 1000;
    const wanted = { isAsked: asked.sections !== 0, snapshots: asked.states };
    subscription.follow(next, { detail: wider, intervalMs }, wanted, id);
    this.#dropEmpty(subscription);
  }

  #unsubscribe(machine: Machine, { topics }: OpData<'unsubscribe'>, id: MessageId | undefined): void {
    const subscription = this.#subscriptions.get(machine.id);
    const before = subscription?.topics ?? NOTHING;
    const { unknown, ...asked } = topics === undefined ? { ...before, unknown: [] } : readTopics(topics);
    const next = { sections: before.sections & ~asked.sections, states: before.states & ~asked.states };
    const more = unknown.length === 0 ? {} : { unknown };
    this.send(frame('subscribed', { topics: namesOf(next), ...more }, this.placeOf(machine, id)));
    if (subscription === undefined) return;
    subscription.follow(next, subscription, { isAsked: false, snapshots: 0 }, undefined);
    this.#dropEmpty(subscription);
  }

  placeOf({ id: host }: Pick<Machine, 'id'>, id: MessageId | undefined): Place {
    return { host: this.only === undefined ? host : undefined, id };
  }

  /** The one machine of a service has no other condition than that it answers. */
  get #showsConditions(): boolean {
    return this.#deps.fleet !== undefined;
  }

  /** Its subscription of a machine, new if it has none; undefined where it has too many. */
  #subscriptionOf(machine: Machine): Subscription | undefined {
    const known = this.#subscriptions.get(machine.id);
    if (known !== undefined || this.#subscriptions.size >= PLACES.subscriptions.max) return known;
    const subscription = new Subscription(machine, this.only === undefined, this, this.#deps.broadcasts);
    this.#subscriptions.set(machine.id, subscription);
    return subscription;
  }

  #dropEmpty(subscription: Subscription): void {
    const { sections, states } = subscription.topics;
    // That of a service remembers whether it has detail.
    if (sections === 0 && states === 0 && this.#showsConditions) this.#drop(subscription);
  }

  #drop(subscription: Subscription): void {
    this.#subscriptions.delete(subscription.machine.id);
    this.#waiting?.delete(subscription);
    subscription.close();
  }

  #dropAll(): void {
    for (const subscription of [...this.#subscriptions.values()]) this.#drop(subscription);
    this.#fleet?.close();
  }

  /** Carries out a message about all machines. */
  #carryOut(request: FleetRequest): void {
    const { fleet, owner } = this.#deps;
    if (fleet === undefined) return;
    try {
      if (request.op === 'unsubscribe' && request.data.topics === undefined) this.#dropAll();
      this.#fleet ??= new SocketFleet(fleet, this, this.#deps.broadcasts);
      this.#fleet.carryOut(request);
    } catch (error) {
      owner.onBroken(this, error);
    }
  }
}

const unknownFrame = (host: string, id: MessageId | undefined): string =>
  errorFrame('NOT_FOUND', 'There is no machine of that id.', { host, id });
