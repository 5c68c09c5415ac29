/**
 * The end that asks: a session with one machine over a carrier, by /api/ws. It begins with the machine's greeting, and what
 * it asked ends with it.
 */
import type { Clock } from '../clock.ts';
import { PLACES, QUOTAS, RATES } from '../fairness/limits.ts';
import { Bucket } from '../fairness/rate.ts';
import { isObject, type JsonObject, membersOf } from '../json.ts';
import { CLOSING_REASONS, type ClosingReason } from '../wire/closing-reasons.ts';
import { type Carrier, type CarrierEvents, down, type Failure } from './carrier.ts';
import { type Greeting, readGreeting } from './greeting.ts';
import { RemoteClock } from './remote-clock.ts';
import { notDone, type RemoteAnswer, type RemoteRequest, type RequestLimits, Requests } from './requests.ts';
import { readJsonObject } from './sound-json.ts';

export interface PeerOwner {
  /** The machine has said who it is: from now on it may be asked. */
  onGreeting(greeting: Greeting): void;
  /** Something came, other than the greeting. */
  onHeard(): void;
  /** Data that the machine sends on its own. `bytes`: of the message. */
  onData(type: string, data: JsonObject, bytes: number): void;
  /** The machine plans this end. */
  onClosing(reason: ClosingReason): void;
  /** The session has ended; called once, unless `end` came first. */
  onEnd(failure: Failure): void;
}

export interface PeerTimes {
  /** For the greeting of a machine that is connected, and for the answer to a ping. */
  readonly headMs: number;
  /** As RequestsDeps. */
  readonly answerMs: number;
}

export interface PeerDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly times: PeerTimes;
  readonly limits: RequestLimits;
}

/** What one machine may send, over all its connections: a new connection after a flood has no new burst. */
export interface Pace {
  readonly frames: Bucket;
  readonly bytes: Bucket;
}

export const newPace = (nowMs: number): Pace => ({
  frames: new Bucket(RATES.machineFrames, nowMs),
  bytes: new Bucket(RATES.machineBytes, nowMs),
});

/** Allowed per request beyond that: an answer of 1 MiB, or the steps of a command. */
const ANSWER_FRAMES = 8;
const ANSWER_BYTES = 1.5 * 2 ** 20;
/** Requests that are sent and not answered. */
const ANSWERS = PLACES.machineQuestions.max + PLACES.machineCommands.max;
const FLOODED = 'it sends more than the hub takes';

/** Data that a machine sends on its own. */
const DATA: ReadonlySet<unknown> = new Set(['system_stats', 'media_update', 'power_update', 'event']);
const REASONS: ReadonlySet<unknown> = new Set(CLOSING_REASONS);
const isReason = (reason: unknown): reason is ClosingReason => REASONS.has(reason);

export class Peer implements CarrierEvents {
  readonly #deps: PeerDeps;
  readonly #pace: Pace;
  readonly #owner: PeerOwner;
  readonly #clockThere = new RemoteClock();
  /** undefined: nothing is asked now. */
  #requests: Requests | undefined;
  /** Requests that were made. */
  #count = 0;
  #carrier: Carrier | undefined;
  #hasGreeted = false;
  #mayNameClients = false;
  #isOver = false;
  /** The topics that were asked for last. */
  #subscribed = '';
  /** The end of the time for the greeting. */
  #timer: unknown;
  /** Commands that need the clock wait for one ping together. */
  #pings: (() => void)[] | undefined;

  /** `pace`: of the machine, which outlives a connection. */
  constructor(deps: PeerDeps, pace: Pace, owner: PeerOwner) {
    this.#deps = deps;
    this.#pace = pace;
    this.#owner = owner;
  }

  #openRequests(): Requests {
    const { clock, limits, times } = this.#deps;
    return new Requests({
      clock,
      limits,
      answerMs: times.answerMs,
      pace: () => (this.#mayNameClients ? RATES.hubRequests : RATES.clientRequests),
      nextId: () => this.#count++,
      send: (id, request) => this.#sendRequest(id, request),
    });
  }

  /** Called every second: a machine that is asked nothing takes no memory for it. */
  rest(): void {
    if (this.#requests?.isIdle === true) this.#requests = undefined;
  }

  /** Begins: the machine is to greet over `carrier`, whose events this takes. */
  start(carrier: Carrier): void {
    const { clock, times } = this.#deps;
    this.#carrier = carrier;
    this.#timer = clock.setTimer(() => this.#fail('no answer in time'), times.headMs);
  }

  /** It has greeted, and is still there. */
  get isReady(): boolean {
    return this.#hasGreeted && !this.#isOver;
  }

  /** As Requests.ask. A command is not sent before the machine's clock is known. */
  async ask(request: RemoteRequest, isCommand: boolean): Promise<RemoteAnswer> {
    if (isCommand && this.#deadlineOf(request) === undefined) {
      await this.#askClock(request.deadlineMs);
      if (this.#deadlineOf(request) === undefined) throw notDone('its clock is unknown');
    }
    if (this.#isOver) throw notDone('the connection has ended');
    this.#requests ??= this.#openRequests();
    return await this.#requests.ask(request, isCommand);
  }

  /** Asks for these topics instead of those before. */
  subscribe(topics: readonly string[], detail: boolean | 'media'): void {
    const data = { topics, detail };
    const wanted = topics.length === 0 ? '' : JSON.stringify(data);
    if (wanted === this.#subscribed) return;
    if (this.#send(wanted === '' ? { op: 'unsubscribe' } : { op: 'subscribe', data }))
      this.#subscribed = wanted;
  }

  /** Asks whether it is there. */
  ping(): void {
    this.#send({ op: 'ping' });
  }

  /** Ends it without a report to the owner. `reason`: for both sides. */
  end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.clock.clearTimer(this.#timer);
    this.#requests?.end(reason);
    this.#settlePings();
    this.#carrier?.end(reason);
  }

  onControl(): void {
    this.#isWithinPace(0);
  }

  onFrame(bytes: Buffer): void {
    if (!this.#isWithinPace(bytes.length)) return;
    const nowMs = this.#deps.clock.now();
    const message = readJsonObject(bytes);
    if (message === undefined) this.#fail('it sent a malformed message');
    else if (!this.#hasGreeted) this.#greet(message, nowMs);
    else this.#take(message, nowMs, bytes.length);
  }

  onEnd(failure: Failure): void {
    this.#finish(failure);
  }

  /** Counts a frame; the first that is too many ends the session. */
  #isWithinPace(bytes: number): boolean {
    if (this.#isOver) return false;
    const nowMs = this.#deps.clock.now();
    const frames = this.#pace.frames.take(1, nowMs);
    if (this.#pace.bytes.take(bytes, nowMs) >= 0 && frames >= 0) return true;
    this.#finish({ ...down(FLOODED), isFlood: true });
    return false;
  }

  #greet({ type, data }: JsonObject, nowMs: number): void {
    const greeting =
      type === 'connected' ? readGreeting(membersOf(data)) : 'the server at this URL is not hostwire';
    if (typeof greeting === 'string') {
      this.#fail(greeting);
      return;
    }
    this.#deps.clock.clearTimer(this.#timer);
    // Thousands are connected, and would keep it.
    this.#timer = undefined;
    this.#hasGreeted = true;
    this.#mayNameClients = greeting.mayNameClients;
    this.#clockThere.take(greeting.clock, nowMs);
    this.#owner.onGreeting(greeting);
  }

  #take({ type, id, data: given }: JsonObject, nowMs: number, bytes: number): void {
    const data = membersOf(given);
    this.#owner.onHeard();
    if (DATA.has(type) && typeof type === 'string') {
      if (isObject(given)) this.#owner.onData(type, data, bytes);
      else this.#fail('it sent a malformed message');
    } else if (type === 'answer') this.#requests?.takeAnswer(id, data);
    else if (type === 'step') this.#requests?.takeStep(id, data);
    else if (type === 'error') this.#requests?.takeError(id, data);
    else if (type === 'pong' && typeof data['clock'] === 'number') {
      this.#clockThere.take(data['clock'], nowMs);
      this.#settlePings();
    } else if (type === 'closing' && isReason(data['reason'])) this.#owner.onClosing(data['reason']);
  }

  #deadlineOf({ deadlineMs }: RemoteRequest): number | undefined {
    return this.#clockThere.at(deadlineMs, this.#deps.clock.now());
  }

  /** Never rejects: there may be no answer. */
  async #askClock(untilMs: number): Promise<void> {
    const { clock } = this.#deps;
    if (this.#pings === undefined) this.ping();
    let timer: unknown;
    await new Promise<void>((resolve) => {
      timer = clock.setTimer(resolve, Math.max(0, untilMs - clock.now()));
      this.#pings ??= [];
      this.#pings.push(resolve);
    });
    clock.clearTimer(timer);
  }

  #settlePings(): void {
    const pings = this.#pings ?? [];
    this.#pings = undefined;
    for (const settle of pings) settle();
  }

  #sendRequest(id: number, request: RemoteRequest): boolean {
    const { what: name, params, client, withBeginning = false } = request;
    const deadline = this.#deadlineOf(request);
    // The hub's own questions have no client.
    const isNamed = this.#mayNameClients && client.address !== '';
    const isSent = this.#send({
      op: 'request',
      id,
      ...(deadline !== undefined && { deadline }),
      ...(isNamed && { via: { client: client.address, key: client.key } }),
      data: { name, params, ...(withBeginning && { steps: true }) },
    });
    if (isSent) this.#expectAnswer();
    return isSent;
  }

  #expectAnswer(): void {
    const { frames, bytes } = this.#pace;
    frames.grant(ANSWER_FRAMES, RATES.machineFrames.burst + ANSWERS * ANSWER_FRAMES);
    bytes.grant(ANSWER_BYTES, RATES.machineBytes.burst + ANSWERS * ANSWER_BYTES);
  }

  /** False: it was not sent, and will not be. */
  #send(message: object): boolean {
    const carrier = this.#carrier;
    if (!this.isReady || carrier?.isOpen !== true || carrier.waitingBytes > QUOTAS.unreadRequests.maxBytes)
      return false;
    carrier.send(JSON.stringify(message));
    return true;
  }

  #fail(reason: string): void {
    this.#finish(down(reason));
  }

  #finish(failure: Failure): void {
    if (this.#isOver) return;
    this.end(failure.reason);
    this.#owner.onEnd(failure);
  }
}
