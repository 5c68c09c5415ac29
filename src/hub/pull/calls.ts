/**
 * The requests to one agent: a few connections at a time, one of which is kept. What waits and what is kept is limited,
 * and a request that may do something is never sent twice.
 */
import type { Clock } from '../../clock.ts';
import { AgentConnection, isLost, type Lost, type SentRequest, type WholeAnswer } from './connection.ts';
import type { Target } from './target.ts';

export interface Call extends SentRequest {
  /** Nothing is changed by it: it is sent again where a kept connection was closed before any answer. */
  readonly isRepeatable: boolean;
  /** It goes before others, and may use the connection that is left for such: commands, and checks before them. */
  readonly isUrgent: boolean;
  /** It is not sent after this moment, of Clock.now, */
  readonly deadlineMs: number;
  /** and its answer is not waited for after this one. */
  readonly untilMs: number;
}

type Done = (found: WholeAnswer | Lost) => void;

interface Waiting {
  readonly call: Call;
  readonly done: Done;
  timer: unknown;
  connection: AgentConnection | undefined;
}

const MAX_CONNECTIONS = 4;
/** One is left for urgent ones. */
const MAX_READING = MAX_CONNECTIONS - 1;
const MAX_WAITING = 64;
/**
 * A command goes over a connection that has answered this lately, otherwise over a new one: an agent closes an idle one
 * after 8 to 12 s, a proxy perhaps after 5, and what was sent at that moment may have been done or not.
 */
const MAX_IDLE_MS = 3000;

const MIN_IDLE_MS = 2000;

const LATE = { isRefusal: false, reason: 'it does not answer', isSent: false, isAnswered: false };
/** Its turn did not come in time: that says nothing about the agent. */
export const BUSY = { ...LATE, reason: 'its connections are all in use' };
export const FULL = { ...LATE, reason: 'too many requests wait for it' };
const GONE = { ...LATE, reason: 'its entry in hub.agents has changed' };

export class Calls {
  readonly #clock: Clock;
  readonly #target: Target;
  readonly #onIdleEnd: () => void;
  #kept: AgentConnection | undefined;
  /** undefined while nothing is asked: most agents are asked nothing but whether they are there. */
  #running: Set<Waiting> | undefined;
  #waiting: Waiting[] | undefined;
  #isClosed = false;
  /** Connections that were begun. */
  begun = 0;

  /** `onIdleEnd`: the agent has closed the connection that was kept, some time after its last answer. */
  constructor(clock: Clock, target: Target, onIdleEnd: () => void) {
    this.#clock = clock;
    this.#target = target;
    this.#onIdleEnd = onIdleEnd;
  }

  /** Whether a command may use the kept connection. */
  get isFresh(): boolean {
    return this.#kept?.isFree === true && this.#clock.now() - this.#kept.answeredAtMs < MAX_IDLE_MS;
  }

  /** Resolves with the answer or the failure; never rejects. */
  call(call: Call): Promise<WholeAnswer | Lost> {
    return new Promise((resolve) => this.#add(call, resolve));
  }

  /** Ends everything. */
  close(): void {
    this.#isClosed = true;
    this.#kept?.close();
    this.#kept = undefined;
    for (const each of this.#waiting ?? []) this.#settle(each, GONE);
    for (const each of this.#running ?? []) each.connection?.close(GONE);
  }

  #add(call: Call, done: Done): void {
    const each: Waiting = { call, done, timer: undefined, connection: undefined };
    if (this.#isClosed || (this.#waiting?.length ?? 0) >= MAX_WAITING) {
      done(this.#isClosed ? GONE : FULL);
      return;
    }
    this.#setTimer(each, call.deadlineMs, () => {
      if (each.connection === undefined) this.#settle(each, BUSY);
    });
    this.#waiting ??= [];
    // Urgent ones first, among themselves in their order.
    const place = call.isUrgent ? this.#waiting.findIndex((other) => !other.call.isUrgent) : -1;
    if (place < 0) this.#waiting.push(each);
    else this.#waiting.splice(place, 0, each);
    this.#begin();
  }

  #setTimer(each: Waiting, atMs: number, fire: () => void): void {
    this.#clock.clearTimer(each.timer);
    each.timer = this.#clock.setTimer(fire, Math.max(0, atMs - this.#clock.now()));
  }

  /** Sends what waits, as far as connections go. */
  #begin(): void {
    for (;;) {
      const next = this.#waiting?.[0];
      const running = this.#running?.size ?? 0;
      if (next === undefined || running >= (next.call.isUrgent ? MAX_CONNECTIONS : MAX_READING)) return;
      this.#waiting?.shift();
      if (this.#waiting?.length === 0) this.#waiting = undefined;
      this.#start(next);
    }
  }

  #start(each: Waiting): void {
    const { call } = each;
    if (this.#clock.now() >= call.deadlineMs) {
      this.#settle(each, LATE);
      return;
    }
    const kept = this.#kept;
    const wasKept = kept !== undefined && (call.isRepeatable || this.isFresh) && kept.isFree;
    const connection = wasKept ? kept : this.#connect();
    if (wasKept) this.#kept = undefined;
    each.connection = connection;
    this.#running ??= new Set();
    this.#running.add(each);
    this.#setTimer(each, call.untilMs, () => connection.close(LATE));
    const headers = () => {
      if (this.#clock.now() >= call.deadlineMs) return undefined;
      return call.headers === undefined ? '' : call.headers();
    };
    connection.send({ ...call, headers }, (found) => {
      this.#running?.delete(each);
      if (this.#running?.size === 0) this.#running = undefined;
      each.connection = undefined;
      const isRepeated = isLost(found) && wasKept && call.isRepeatable && !found.isAnswered;
      if (isRepeated && !this.#isClosed) {
        this.#start(each);
        return;
      }
      this.#keep(connection);
      this.#settle(each, found);
      this.#begin();
    });
  }

  #connect(): AgentConnection {
    this.begun++;
    return new AgentConnection(this.#target, this.#clock.now, (ended) => {
      if (ended !== this.#kept) return;
      this.#kept = undefined;
      // One that closes after each answer is not asked in a circle.
      if (this.#clock.now() - ended.answeredAtMs > MIN_IDLE_MS) this.#onIdleEnd();
    });
  }

  #keep(connection: AgentConnection): void {
    if (!connection.isFree) return;
    if (this.#isClosed) connection.close();
    // The newer one has the longer life before it.
    else {
      this.#kept?.close();
      this.#kept = connection;
    }
  }

  #settle(each: Waiting, found: WholeAnswer | Lost): void {
    this.#clock.clearTimer(each.timer);
    if (this.#waiting !== undefined) this.#waiting = this.#waiting.filter((other) => other !== each);
    if (this.#waiting?.length === 0) this.#waiting = undefined;
    each.done(found);
  }
}
