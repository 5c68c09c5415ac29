/**
 * The requests to one agent: a few connections at a time, one of which is kept. What waits is limited and has its turn by
 * client, commands never wait for reads, and a request that may do something is never sent twice.
 */
import type { Clock } from '../../clock.ts';
import { Clients, FairQueue } from '../../fairness/fair-queue.ts';
import { SharedRoom, type Sharer } from '../../fairness/shared-room.ts';
import { AgentConnection, isLost, type Lost, type SentRequest, type WholeAnswer } from './connection.ts';
import type { Target } from './target.ts';

export interface Call extends SentRequest {
  /** Nothing is changed by it: it is sent again where a kept connection was closed before any answer. */
  readonly isRepeatable: boolean;
  /** It has connections and places of its own, which reads never take: commands, and checks before them. */
  readonly isUrgent: boolean;
  /** The client that asked first. */
  readonly who: Sharer;
  /** The addresses of all clients that wait for the answer; more may join. Where it is absent, that of `who`. */
  readonly clients?: Clients | undefined;
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

/** Reads that are sent at the same time, each on a connection. */
const MAX_READING = 3;
/** The same for urgent calls; one address without the key may have a quarter: a command may take 60 s. */
const MAX_URGENT = 16;
/** Reads that wait, in turns by client; beyond it the client that has most loses its newest one. */
const MAX_WAITING = 64;
/** The same for urgent calls. */
const MAX_URGENT_WAITING = 64;
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
  #reads: FairQueue<Waiting> | undefined;
  #urgent: FairQueue<Waiting> | undefined;
  /** The urgent calls that run. */
  readonly #room = new SharedRoom(MAX_URGENT);
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
    for (const each of [...(this.#urgent ?? []), ...(this.#reads ?? [])]) this.#settle(each, GONE);
    for (const each of this.#running ?? []) each.connection?.close(GONE);
  }

  #add(call: Call, done: Done): void {
    const each: Waiting = { call, done, timer: undefined, connection: undefined };
    if (this.#isClosed) {
      done(GONE);
      return;
    }
    this.#setTimer(each, call.deadlineMs, () => {
      if (each.connection === undefined) this.#settle(each, BUSY);
    });
    const dropped = this.#queueOf(call).add(each, call.clients ?? new Clients(call.who.address));
    if (dropped !== undefined) this.#settle(dropped, FULL);
    this.#begin();
  }

  #queueOf({ isUrgent }: Call): FairQueue<Waiting> {
    if (!isUrgent) {
      this.#reads ??= new FairQueue(MAX_WAITING);
      return this.#reads;
    }
    this.#urgent ??= new FairQueue(MAX_URGENT_WAITING);
    return this.#urgent;
  }

  #setTimer(each: Waiting, atMs: number, fire: () => void): void {
    this.#clock.clearTimer(each.timer);
    each.timer = this.#clock.setTimer(fire, Math.max(0, atMs - this.#clock.now()));
  }

  /** Sends what waits, as far as connections go. */
  #begin(): void {
    for (;;) {
      const next = this.#next();
      if (next === undefined) break;
      this.#start(next);
    }
    if (this.#reads?.size === 0) this.#reads = undefined;
    if (this.#urgent?.size === 0) this.#urgent = undefined;
  }

  #next(): Waiting | undefined {
    const urgent = this.#urgent?.take(({ call }) => this.#room.hasRoom(call.who));
    if (urgent !== undefined) return urgent;
    const reading = (this.#running?.size ?? 0) - this.#room.size;
    return reading < MAX_READING ? this.#reads?.take() : undefined;
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
    this.#run(each);
    this.#setTimer(each, call.untilMs, () => connection.close(LATE));
    const headers = () => {
      if (this.#clock.now() >= call.deadlineMs) return undefined;
      return call.headers === undefined ? '' : call.headers();
    };
    connection.send({ ...call, headers }, (found) => {
      this.#stop(each);
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

  #run(each: Waiting): void {
    this.#running ??= new Set();
    this.#running.add(each);
    if (each.call.isUrgent) this.#room.add(each.call.who);
  }

  #stop(each: Waiting): void {
    this.#running?.delete(each);
    if (this.#running?.size === 0) this.#running = undefined;
    if (each.call.isUrgent) this.#room.remove(each.call.who);
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
    this.#reads?.remove(each);
    this.#urgent?.remove(each);
    each.done(found);
  }
}
