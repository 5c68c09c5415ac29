/**
 * Commands and questions to agents over a broker. A command is published once, with QoS 0: the library keeps nothing of it, and
 * what the broker loses is lost. Each has a deadline by the agent's own clock (docs/hub-protocol.md).
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
  unknownOutcome,
} from './feedback.ts';
import type { Reading } from './lines.ts';

/** As `Ask` of the hub. */
export interface Call {
  readonly what: string;
  readonly params: Params;
  readonly who: { readonly address: string; readonly key: string | undefined };
  /** Milliseconds of the hub's clock. */
  readonly deadlineMs: number;
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

const SILENT = 'it gave no answer in time';

export class Calls {
  readonly #options: CallsOptions;
  /** By agent, then by id. */
  readonly #pending = new Map<string, Map<string, Pending>>();
  #size = 0;
  #count = 0;
  readonly #prefix: string;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#prefix = `${options.hub}-${randomBytes(4).toString('hex')}-`.slice(-100);
  }

  /** Rejects with ServiceError: nothing was done. */
  async question(id: string, { what, params, who, deadlineMs }: Call): Promise<CallAnswer> {
    return await this.#send(id, 'get', { what, params, who }, deadlineMs, false);
  }

  /** `reading`: the deadline, by the agent's clock. Rejects with ServiceError. */
  async command(id: string, call: Call, reading: Reading): Promise<CallAnswer> {
    const { what, params, who, deadlineMs } = call;
    const { run, clock: deadline } = reading;
    // It is a part of a topic.
    if (!COMMAND.test(what)) throw new ServiceError('unknown_action', 'There is no such command.');
    if (this.#options.clock.now() >= deadlineMs) throw notDone('the time for it has passed');
    const untilMs = deadlineMs + this.#options.answerMs + waitOf(params);
    return await this.#send(id, what, { run, deadline, params, who }, untilMs, true);
  }

  /** A message on the topic of feedbacks. Returns the reading of the agent's clock in it, if somebody waited for it. */
  take(id: string, payload: Buffer): Reading | undefined {
    const callId = idIn(payload);
    if (callId === undefined || this.#pending.get(id)?.has(callId) !== true) return undefined;
    const feedback = readFeedback(payload);
    if (feedback?.id !== callId) return undefined;
    this.#settle(id, callId, feedback);
    return feedback.reading;
  }

  /** Nothing more comes from this agent, or from any, to what was sent. */
  lost(reason: string, id?: string): void {
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
    isCommand: boolean,
  ): Promise<CallAnswer> {
    const { hub, clock, publish } = this.#options;
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
      const isPicture = fields['what'] === 'art';
      ofAgent.set(callId, { isCommand, isPicture, timer, resolve, reject });
      this.#size++;
      if (!publish(id, name, payload))
        this.#end(id, callId, () => reject(notDone('the broker cannot be reached')));
    });
  }

  #settle(id: string, callId: string, feedback: Feedback): void {
    const { stage, code } = feedback;
    // What comes after `accepted` is not waited for.
    if (stage === 'done' || stage === 'accepted')
      this.#end(id, callId, ({ resolve, reject, isPicture }) => {
        const answer = answerOf(feedback, isPicture);
        if (answer === undefined) reject(notDone('its answer is not understood'));
        else resolve(answer);
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
