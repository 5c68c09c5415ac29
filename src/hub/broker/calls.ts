/**
 * Commands and questions to agents over a broker, or over their own connections. A command is published once, with QoS 0:
 * the library keeps nothing of it, and what the broker loses is lost. Each has a deadline by the agent's own clock
 * (docs/hub-protocol.md).
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
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
} from './feedback.ts';
import { Following, type OnStep } from './following.ts';
import type { Reading } from './lines.ts';

/** As `Ask` of the hub. */
export interface Call {
  readonly what: string;
  readonly params: Params;
  readonly who: { readonly address: string; readonly key: string | undefined };
  /** Milliseconds of the hub's clock. */
  readonly deadlineMs: number;
  readonly onStep?: OnStep | undefined;
  readonly withBeginning?: boolean | undefined;
}

export interface CallsOptions {
  /** Of this hub. */
  readonly hub: string;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  /** For the feedback, after the deadline: a command may have been begun at the last moment. */
  readonly answerMs: number;
  /** Publishes it for the agent; false: it was not, and will not be. */
  readonly publish: (id: string, name: string, payload: string) => boolean;
}

interface Pending {
  readonly isCommand: boolean;
  readonly isPicture: boolean;
  /** undefined: only the answer counts. */
  readonly follow: { readonly onStep: OnStep; readonly untilMs: number } | undefined;
  readonly timer: unknown;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: ServiceError) => void;
}

/** The agent takes 40 at once. */
const MAX_PER_AGENT = 32;
const MAX_PENDING = 2000;
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

const SILENT = 'it gave no answer in time';

export class Calls {
  readonly #options: CallsOptions;
  /** By agent, then by id. */
  readonly #pending = new Map<string, Map<string, Pending>>();
  readonly #following: Following;
  #size = 0;
  #count = 0;
  readonly #prefix: string;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#following = new Following(options.clock);
    this.#prefix = `${options.hub}-${randomBytes(4).toString('hex')}-`.slice(-100);
  }

  /** Rejects with ServiceError: nothing was done. */
  async question(id: string, { what, params, who, deadlineMs }: Call): Promise<CallAnswer> {
    return await this.#send(id, 'get', { what, params, who }, deadlineMs);
  }

  /** `reading`: the deadline, by the agent's clock. Rejects with ServiceError. */
  async command(id: string, call: Call, reading: Reading): Promise<CallAnswer> {
    const { what, params, who, deadlineMs, onStep, withBeginning } = call;
    const { run, clock: deadline } = reading;
    // It is a part of a topic.
    if (!COMMAND.test(what)) throw new ServiceError('unknown_action', 'There is no such command.');
    if (this.#options.clock.now() >= deadlineMs) throw notDone('the time for it has passed');
    const untilMs = deadlineMs + this.#options.answerMs + waitOf(params);
    const stages = withBeginning === true ? { stages: true } : {};
    return await this.#send(id, what, { run, deadline, params, who, ...stages }, untilMs, { onStep });
  }

  /** A message on the topic of feedbacks. Returns the reading of the agent's clock in it, if somebody waited for it. */
  take(id: string, payload: Buffer): Reading | undefined {
    const callId = idIn(payload);
    if (callId === undefined) return undefined;
    const isPending = this.#pending.get(id)?.has(callId) === true;
    if (!isPending && !this.#following.has(id, callId)) return undefined;
    const feedback = readFeedback(payload);
    if (feedback?.id !== callId) return undefined;
    if (isPending) this.#settle(id, callId, feedback);
    else this.#following.take(id, callId, feedback);
    return feedback.reading;
  }

  /** Nothing more comes from this agent, or from any, to what was sent. */
  lost(reason: string, id?: string): void {
    this.#following.lost(reason, id);
    const agents = id === undefined ? [...this.#pending.keys()] : [id];
    for (const agent of agents)
      for (const [callId, { isCommand }] of [...(this.#pending.get(agent) ?? [])])
        this.#end(agent, callId, ({ reject }) =>
          reject(isCommand ? unknownOutcome(reason) : notDone(reason)),
        );
  }

  async #send(
    id: string,
    name: string,
    { who, ...fields }: Pick<Call, 'who'> & Readonly<Record<string, unknown>>,
    untilMs: number,
    command?: { readonly onStep: OnStep | undefined },
  ): Promise<CallAnswer> {
    const { hub, clock, publish } = this.#options;
    const isCommand = command !== undefined;
    const ofAgent = this.#pending.get(id) ?? new Map<string, Pending>();
    if (ofAgent.size >= MAX_PER_AGENT || this.#size >= MAX_PENDING)
      throw new ServiceError('too_many_requests', 'Too many requests wait for this machine.');
    const callId = `${this.#prefix}${(this.#count++).toString(36)}`;
    const client = who.address === '' ? NO_ADDRESS : who.address;
    const payload = JSON.stringify({ hub, id: callId, client, key: who.key ?? null, ...fields });
    return await new Promise<CallAnswer>((resolve, reject) => {
      const late = () =>
        this.#end(id, callId, () => reject(isCommand ? unknownOutcome(SILENT) : notDone(SILENT)));
      const timer = clock.setTimer(late, Math.max(0, untilMs - clock.now()));
      this.#pending.set(id, ofAgent);
      const onStep = command?.onStep;
      const follow = onStep && { onStep, untilMs: untilMs + delayOf(fields['params']) };
      const isPicture = fields['what'] === 'art';
      ofAgent.set(callId, { isCommand, isPicture, follow, timer, resolve, reject });
      this.#size++;
      if (!publish(id, name, payload))
        this.#end(id, callId, () => reject(notDone('nothing can be sent to it now')));
    });
  }

  #settle(id: string, callId: string, feedback: Feedback): void {
    const { stage, code } = feedback;
    if (stage === 'running') {
      const follow = this.#pending.get(id)?.get(callId)?.follow;
      follow?.onStep({ stage: 'begun', message: textOf(feedback.message) });
    } else if (stage === 'done' || stage === 'accepted')
      this.#end(id, callId, ({ resolve, reject, isPicture, follow }) => {
        const answer = answerOf(feedback, isPicture);
        // What comes after `accepted` is not waited for, but followed where somebody wants to know it.
        const isFollowed = stage === 'accepted' && follow !== undefined;
        if (isFollowed) this.#following.begin(id, callId, feedback, follow);
        if (answer === undefined) reject(notDone('its answer is not understood'));
        else resolve(isFollowed ? { ...answer, isFollowed } : answer);
      });
    else if (stage === 'failed' || stage === 'refused')
      this.#end(id, callId, ({ reject }) => reject(errorOf(feedback)));
    else if (stage === 'ignored') {
      const isUndone = code === 'late' || code === 'other_run' || code === 'expired';
      const error = isUndone
        ? notDone(code === 'late' ? 'it got it too late' : 'it has started again')
        : unknownOutcome('it has got it more than once');
      this.#end(id, callId, ({ reject }) => reject(error));
    }
  }

  #end(id: string, callId: string, settle: (pending: Pending) => void): void {
    const ofAgent = this.#pending.get(id);
    const pending = ofAgent?.get(callId);
    if (ofAgent === undefined || pending === undefined) return;
    this.#options.clock.clearTimer(pending.timer);
    ofAgent.delete(callId);
    this.#size--;
    if (ofAgent.size === 0) this.#pending.delete(id);
    settle(pending);
  }
}
