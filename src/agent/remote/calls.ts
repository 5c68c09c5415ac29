/**
 * Commands and questions to agents over a broker, or over their own connections. A command is published once, with QoS 0:
 * the library keeps nothing of it, and what the broker loses is lost. Each has a deadline by the agent's own clock
 * (docs/hub-protocol.md).
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { Clients } from '../../fairness/fair-queue.ts';
import { Places } from '../../fairness/places.ts';
import type { Params } from '../../params.ts';
import {
  answerOf,
  type CallAnswer,
  errorOf,
  type Feedback,
  idIn,
  notDone,
  readFeedback,
  textOf,
  unknownOutcome,
} from '../protocol/feedback.ts';
import type { Reading } from '../protocol/sample-lines.ts';
import type { Ask } from './ask.ts';
import { CallTurns, type Turn } from './call-turns.ts';
import { type Follow, type OnStep, PendingCommands } from './pending-commands.ts';

export interface CallsOptions {
  /** The name of this hub. */
  readonly hub: string;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  /** For the feedback, after the deadline: a command may have been begun at the last moment. */
  readonly answerMs: number;
  /** Publishes it for the agent; false: it was not, and will not be. */
  readonly publish: (id: string, name: string, payload: string) => boolean;
}

interface Pending {
  readonly isCommand: boolean;
  isSent: boolean;
  readonly turn: Turn;
  readonly isPicture: boolean;
  /** undefined: only the answer counts. */
  readonly follow: Follow | undefined;
  timer: unknown;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: ServiceError) => void;
}

/** Limits per agent, which runs 16 at a time: its other hub needs some too. A full queue drops from the busiest client. */
const QUESTIONS = { maxRunning: 12, maxWaiting: 64 };
/** Commands have a room of their own, because they must not wait for what is read. */
const COMMANDS = { maxRunning: 16, maxWaiting: 32 };
/** Limits of all agents together. */
const MAX_QUESTIONS = 2000;
const MAX_COMMANDS = 1000;
/** The question of the clock is asked before commands, and never waits. */
const CLOCK = 'clock';
/** An address is required; the hub's own questions have none. */
const NO_ADDRESS = '::';

const COMMAND = /^[a-z]+\.[a-z_]{1,64}$/;

/** `process.kill` answers when the processes have ended, or this has passed. */
const waitOf = ({ timeout_ms: wait }: Params) =>
  typeof wait === 'number' && wait > 0 && wait <= 60_000 ? wait : 0;

/** Milliseconds from the answer of a power action to the action itself. */
function delayOf(params: unknown): number {
  const delay = typeof params === 'object' && params !== null && 'delay' in params ? params.delay : 0;
  return typeof delay === 'number' && delay > 0 && delay <= 86_400 ? delay * 1000 : 0;
}

const SILENT = 'no answer in time';
const BUSY = 'too many pending requests';

const crowded = () =>
  new ServiceError('too_many_requests', 'Too many requests are pending for this machine.');

/** The calls that wait for one agent or are under way to it. */
class AgentCalls {
  readonly pending = new Map<string, Pending>();
  readonly questions: CallTurns;
  readonly commands: CallTurns;

  constructor(clock: CallsOptions['clock']) {
    this.questions = new CallTurns(clock, QUESTIONS);
    this.commands = new CallTurns(clock, COMMANDS);
  }

  /** Nothing that waits is sent any more. */
  clear(): void {
    this.questions.clear();
    this.commands.clear();
  }

  get isIdle(): boolean {
    return this.pending.size === 0 && this.questions.isIdle && this.commands.isIdle;
  }
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #agents = new Map<string, AgentCalls>();
  readonly #questions = new Places(MAX_QUESTIONS);
  readonly #commands = new Places(MAX_COMMANDS);
  readonly #begun: PendingCommands;
  #count = 0;
  readonly #prefix: string;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#begun = new PendingCommands(options.clock);
    this.#prefix = `${options.hub}-${randomBytes(4).toString('hex')}-`.slice(-100);
  }

  /** Rejects with ServiceError: nothing was done. */
  async question(id: string, call: Ask): Promise<CallAnswer> {
    const { what, params, deadlineMs } = call;
    return await this.#send(id, 'get', call, { what, params }, deadlineMs);
  }

  /** `reading`: the deadline, by the agent's clock. Rejects with ServiceError. */
  async command(id: string, call: Ask, reading: Reading): Promise<CallAnswer> {
    const { what, params, deadlineMs, onStep, withBeginning } = call;
    const { run, clock: deadline } = reading;
    // It is a part of a topic.
    if (!COMMAND.test(what)) throw new ServiceError('unknown_action', 'There is no such command.');
    if (this.#options.clock.now() >= deadlineMs) throw notDone('its deadline has passed');
    const untilMs = deadlineMs + this.#options.answerMs + waitOf(params);
    const stages = withBeginning === true ? { stages: true } : {};
    return await this.#send(id, what, call, { run, deadline, params, ...stages }, untilMs, { onStep });
  }

  /** Takes a message on the topic of feedbacks. Returns the reading of the agent's clock in it, if a call waited for it. */
  take(id: string, payload: Buffer): Reading | undefined {
    const callId = idIn(payload);
    if (callId === undefined) return undefined;
    const isPending = this.#agents.get(id)?.pending.has(callId) === true;
    if (!isPending && !this.#begun.has(id, callId)) return undefined;
    const feedback = readFeedback(payload);
    if (feedback?.id !== callId) return undefined;
    if (isPending) this.#settle(id, callId, feedback);
    else this.#begun.take(id, callId, feedback);
    return feedback.reading;
  }

  /** Nothing more comes from this agent, or from any, to what was sent. */
  lost(reason: string, id?: string): void {
    this.#begun.lost(reason, id);
    const agents = id === undefined ? [...this.#agents.keys()] : [id];
    for (const agent of agents) {
      this.#agents.get(agent)?.clear();
      for (const [callId, { isCommand }] of [...(this.#agents.get(agent)?.pending ?? [])])
        this.#end(agent, callId, ({ reject, isSent }) =>
          reject(isCommand && isSent ? unknownOutcome(reason) : notDone(reason)),
        );
    }
    // Its next run takes a whole burst again.
    for (const agent of agents) if (this.#agents.get(agent)?.pending.size === 0) this.#agents.delete(agent);
  }

  async #send(
    id: string,
    name: string,
    { who, clients = new Clients(who.address), deadlineMs }: Ask,
    fields: Readonly<Record<string, unknown>>,
    untilMs: number,
    command?: { readonly onStep: OnStep | undefined },
  ): Promise<CallAnswer> {
    const { clock } = this.#options;
    const isCommand = command !== undefined;
    if (!(isCommand ? this.#commands : this.#questions).hasCapacity(who)) throw crowded();
    const callId = `${this.#prefix}${(this.#count++).toString(36)}`;
    const agent = this.#agentOf(id);
    return await new Promise<CallAnswer>((resolve, reject) => {
      const turn: Turn = {
        who,
        begin: () => this.#begin(id, callId, name, { who, ...fields }, untilMs),
        drop: () => this.#end(id, callId, () => reject(crowded())),
      };
      const timer = clock.setTimer(
        () => this.#end(id, callId, () => reject(notDone(BUSY))),
        Math.max(0, deadlineMs - clock.now()),
      );
      const onStep = command?.onStep;
      const untilDueMs = untilMs + delayOf(fields['params']);
      const follow = onStep && { onStep, untilMs: untilDueMs, client: who.address };
      const isPicture = fields['what'] === 'art';
      agent.pending.set(callId, {
        isCommand,
        isSent: false,
        turn,
        isPicture,
        follow,
        timer,
        resolve,
        reject,
      });
      (isCommand ? this.#commands : this.#questions).add(who);
      if (fields['what'] === CLOCK) turn.begin();
      else (isCommand ? agent.commands : agent.questions).add(turn, clients);
    });
  }

  #agentOf(id: string): AgentCalls {
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const agent = new AgentCalls(this.#options.clock);
    this.#agents.set(id, agent);
    return agent;
  }

  /** Its turn has come. */
  #begin(
    id: string,
    callId: string,
    name: string,
    { who, ...fields }: Pick<Ask, 'who'> & Readonly<Record<string, unknown>>,
    untilMs: number,
  ): void {
    const { hub, clock, publish } = this.#options;
    const pending = this.#agents.get(id)?.pending.get(callId);
    if (pending === undefined) return;
    pending.isSent = true;
    clock.clearTimer(pending.timer);
    const late = () => pending.reject(pending.isCommand ? unknownOutcome(SILENT) : notDone(SILENT));
    pending.timer = clock.setTimer(() => this.#end(id, callId, late), Math.max(0, untilMs - clock.now()));
    const client = who.address === '' ? NO_ADDRESS : who.address;
    const payload = JSON.stringify({ hub, id: callId, client, key: who.key ?? null, ...fields });
    if (!publish(id, name, payload)) this.#end(id, callId, ({ reject }) => reject(notDone('not connected')));
  }

  #settle(id: string, callId: string, feedback: Feedback): void {
    const { stage, code } = feedback;
    if (stage === 'running') {
      const follow = this.#agents.get(id)?.pending.get(callId)?.follow;
      follow?.onStep({ stage: 'begun', message: textOf(feedback.message) });
    } else if (stage === 'done' || stage === 'accepted')
      this.#end(id, callId, ({ resolve, reject, isPicture, follow }) => {
        const answer = answerOf(feedback, isPicture);
        // Messages after `accepted` are not awaited, but followed if a client wants them.
        const isFollowed = stage === 'accepted' && follow !== undefined;
        if (isFollowed) this.#begun.begin(id, callId, feedback, follow);
        if (answer === undefined) reject(notDone('its answer is malformed'));
        else resolve(isFollowed ? { ...answer, isFollowed } : answer);
      });
    else if (stage === 'failed' || stage === 'refused')
      this.#end(id, callId, ({ reject }) => reject(errorOf(feedback)));
    else if (stage === 'ignored') {
      const isUndone = code === 'late' || code === 'other_run' || code === 'expired';
      const error = isUndone
        ? notDone(code === 'late' ? 'received too late' : 'its service was restarted')
        : unknownOutcome('received more than once');
      this.#end(id, callId, ({ reject }) => reject(error));
    }
  }

  #end(id: string, callId: string, settle: (pending: Pending) => void): void {
    const agent = this.#agents.get(id);
    const pending = agent?.pending.get(callId);
    if (agent === undefined || pending === undefined) return;
    const { isCommand, turn, timer } = pending;
    this.#options.clock.clearTimer(timer);
    agent.pending.delete(callId);
    (isCommand ? this.#commands : this.#questions).remove(turn.who);
    settle(pending);
    (isCommand ? agent.commands : agent.questions).end(turn);
    if (agent.isIdle) this.#agents.delete(id);
  }
}
