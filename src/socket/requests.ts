/**
 * What is asked of one machine over one connection: in fair turns, each once, with a deadline by the machine's own clock.
 * The end of the connection ends all of it.
 */
import type { Caller } from '../access/caller.ts';
import type { Clock } from '../clock.ts';
import type { Step } from '../commands/command.ts';
import { type ErrorCode, ServiceError, STATUS_BY_CODE, scopeRequired } from '../errors.ts';
import { Clients } from '../fairness/fair-queue.ts';
import { PLACES, TEXTS } from '../fairness/limits.ts';
import type { Places } from '../fairness/places.ts';
import { isObject, type JsonObject, membersOf } from '../json.ts';
import type { Params } from '../params.ts';
import { isScope } from '../scopes.ts';
import { type CallPace, CallTurns, type Turn } from './call-turns.ts';

export interface RemoteRequest {
  /** A question, or the name of a command, such as `media.set_volume`. */
  readonly what: string;
  readonly params: Params;
  readonly client: Caller;
  /** The addresses of all who wait for the answer, that of `client` among them; more may join. */
  readonly clients?: Clients | undefined;
  /** The last moment at which it may be begun, in milliseconds of this side's clock (Clock.now). */
  readonly deadlineMs: number;
  /** Called with the steps of a command. `accepted` precedes the answer. */
  readonly onStep?: ((step: Step) => void) | undefined;
  /** Also with `begun`. */
  readonly withBeginning?: boolean | undefined;
}

/** A machine's answer with status 200. */
export interface RemoteAnswer {
  readonly type?: string;
  readonly bytes: Buffer;
  readonly etag?: string;
  readonly delivered?: 'true' | 'false' | 'unknown';
  readonly isFollowed?: true;
}

/** Shared by the connections to all machines. */
export interface RequestLimits {
  readonly questions: Places;
  readonly commands: Places;
}

export interface RequestsDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly limits: RequestLimits;
  /** For the answer to a command, after its deadline: it may have been begun at the last moment. */
  readonly answerMs: number;
  /** How many questions, and as many commands, the machine takes from this side. */
  readonly pace: () => CallPace;
  /** Returns a number that no other request of the connection has. */
  readonly nextId: () => number;
  /** Sends a request with its number; false: it was not sent, and will not be. */
  readonly send: (id: number, request: RemoteRequest) => boolean;
}

interface Pending {
  readonly request: RemoteRequest;
  readonly isCommand: boolean;
  readonly turn: Turn;
  isSent: boolean;
  timer: unknown;
  readonly resolve: (answer: RemoteAnswer) => void;
  readonly reject: (error: ServiceError) => void;
}

interface Followed {
  readonly onStep: (step: Step) => void;
  readonly timer: unknown;
}

/** After the moment at which a command is due. */
const END_WITHIN_MS = 60_000;

const SILENT = 'no answer in time';

/** It was certainly not done. */
export const notDone = (reason: string): ServiceError =>
  new ServiceError('host_unreachable', 'The command was not carried out.', { reason });

/** It was sent, and its outcome is unknown. */
const unknownOutcome = (reason: string): ServiceError =>
  new ServiceError('outcome_unknown', 'The command was sent; whether it was carried out is unknown.', {
    reason,
  });

const crowded = () =>
  new ServiceError('too_many_requests', 'Too many requests are pending for this machine.');

/** `process.kill` answers when the processes have ended, or this has passed. */
const waitOf = ({ timeout_ms: wait }: Params) =>
  typeof wait === 'number' && wait > 0 && wait <= 60_000 ? wait : 0;

/** Milliseconds from the answer of a power action to the action itself. */
const delayOf = ({ delay }: Params) =>
  typeof delay === 'number' && delay > 0 && delay <= 86_400 ? delay * 1000 : 0;

export class Requests {
  readonly #deps: RequestsDeps;
  readonly #pending = new Map<number, Pending>();
  /** Commands that continue after their answer, the oldest first. */
  readonly #followed = new Map<number, Followed>();
  readonly #questions: CallTurns;
  readonly #commands: CallTurns;
  #end: string | undefined;

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
    this.#questions = new CallTurns(deps.clock, PLACES.machineQuestions, deps.pace);
    this.#commands = new CallTurns(deps.clock, PLACES.machineCommands, deps.pace);
  }

  /**
   * Asks once. Rejects with ServiceError: the machine's own; `host_unreachable`: it was not done; `outcome_unknown`: it was
   * sent, and it is unknown whether it was done.
   */
  async ask(request: RemoteRequest, isCommand: boolean): Promise<RemoteAnswer> {
    const { client, clients = new Clients(client.address), deadlineMs } = request;
    const { clock, limits } = this.#deps;
    if (this.#end !== undefined) throw notDone(this.#end);
    if (isCommand && clock.now() >= deadlineMs) throw notDone('its deadline has passed');
    const places = isCommand ? limits.commands : limits.questions;
    if (!places.hasCapacity(client)) throw crowded();
    const id = this.#deps.nextId();
    return await new Promise<RemoteAnswer>((resolve, reject) => {
      const turn: Turn = {
        who: client,
        begin: () => this.#begin(id),
        drop: () => this.#settle(id, () => reject(crowded())),
      };
      const late = () => this.#settle(id, () => reject(notDone('too many pending requests')));
      const timer = clock.setTimer(late, Math.max(0, deadlineMs - clock.now()));
      this.#pending.set(id, { request, isCommand, turn, isSent: false, timer, resolve, reject });
      places.add(client);
      (isCommand ? this.#commands : this.#questions).add(turn, clients);
    });
  }

  /** Takes the data of `answer`. */
  takeAnswer(id: unknown, data: JsonObject): void {
    const pending = this.#find(id);
    if (pending === undefined) return;
    const { number, request } = pending;
    const { error } = data;
    if (error !== undefined) this.#settle(number, ({ reject }) => reject(errorOf(membersOf(error))));
    else
      this.#settle(number, ({ resolve, reject }) => {
        const answer = answerOf(data, request.what === 'art');
        if (answer === undefined) reject(notDone('its answer is malformed'));
        else if (data['follows'] === true && request.onStep !== undefined) {
          this.#follow(number, request, request.onStep, messageIn(data['body']));
          resolve({ ...answer, isFollowed: true });
        } else resolve(answer);
      });
  }

  /** Takes the data of `step`. */
  takeStep(id: unknown, { stage, message }: JsonObject): void {
    const step = (name: Step['stage']) => ({ stage: name, message: textOf(message) });
    if (stage === 'begun') this.#find(id)?.request.onStep?.(step(stage));
    else if (
      typeof id === 'number' &&
      (stage === 'running' || stage === 'done' || stage === 'failed' || stage === 'cancelled')
    ) {
      const followed = this.#followed.get(id);
      if (followed === undefined) return;
      if (stage !== 'running') this.#unfollow(id, followed);
      followed.onStep(step(stage));
    }
  }

  /** Takes the data of `error`: the machine has not begun it. */
  takeError(id: unknown, { code, message }: JsonObject): void {
    const pending = this.#find(id);
    if (pending === undefined) return;
    const error =
      code === 'LATE'
        ? notDone('received too late')
        : code === 'RATE_LIMITED'
          ? crowded()
          : new ServiceError('internal_error', textOf(message, 'The machine reported no reason.'));
    this.#settle(pending.number, ({ reject }) => reject(error));
  }

  /** Nothing is under way or followed, and a whole burst may be sent. */
  get isIdle(): boolean {
    const isQuiet = this.#pending.size + this.#followed.size === 0;
    return isQuiet && this.#questions.isIdle && this.#commands.isIdle;
  }

  /** Nothing more is sent, and nothing comes to what was sent. */
  end(reason: string): void {
    this.#end = reason;
    this.#questions.clear();
    this.#commands.clear();
    for (const number of [...this.#pending.keys()])
      this.#settle(number, ({ reject, isCommand, isSent }) =>
        reject(isCommand && isSent ? unknownOutcome(reason) : notDone(reason)),
      );
    for (const [number, followed] of [...this.#followed]) this.#giveUp(number, followed, reason);
  }

  #find(id: unknown): (Pending & { readonly number: number }) | undefined {
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    return pending?.isSent === true && typeof id === 'number' ? { ...pending, number: id } : undefined;
  }

  /** Its turn has come. */
  #begin(id: number): void {
    const { clock, answerMs, send } = this.#deps;
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { request, isCommand } = pending;
    pending.isSent = true;
    clock.clearTimer(pending.timer);
    const untilMs = request.deadlineMs + (isCommand ? answerMs + waitOf(request.params) : 0);
    const late = isCommand ? () => unknownOutcome(SILENT) : () => notDone(SILENT);
    pending.timer = clock.setTimer(
      () => this.#settle(id, ({ reject }) => reject(late())),
      Math.max(0, untilMs - clock.now()),
    );
    if (!send(id, request)) this.#settle(id, ({ reject }) => reject(notDone('not connected')));
  }

  #settle(id: number, settle: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { isCommand, turn, timer, request } = pending;
    const { clock, limits } = this.#deps;
    clock.clearTimer(timer);
    this.#pending.delete(id);
    (isCommand ? limits.commands : limits.questions).remove(request.client);
    settle(pending);
    (isCommand ? this.#commands : this.#questions).end(turn);
  }

  #follow(
    id: number,
    { params, deadlineMs }: RemoteRequest,
    onStep: Followed['onStep'],
    message: string,
  ): void {
    const { clock, answerMs } = this.#deps;
    const [oldest] = this.#followed.size >= PLACES.followedCommands.max ? this.#followed : [];
    if (oldest !== undefined) this.#giveUp(...oldest, 'too many other commands are pending');
    onStep({ stage: 'accepted', message });
    const untilMs = deadlineMs + answerMs + delayOf(params) + END_WITHIN_MS;
    const followed: Followed = {
      onStep,
      timer: clock.setTimer(
        () => this.#giveUp(id, followed, 'no result was reported'),
        untilMs - clock.now(),
      ),
    };
    this.#followed.set(id, followed);
  }

  #giveUp(id: number, followed: Followed, message: string): void {
    this.#unfollow(id, followed);
    followed.onStep({ stage: 'unknown', message });
  }

  #unfollow(id: number, { timer }: Followed): void {
    this.#deps.clock.clearTimer(timer);
    this.#followed.delete(id);
  }
}

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const TAG = /^"[\x21\x23-\x7e]{1,128}"$/;

/** Returns the answer for a client; undefined: it does not answer the request. */
function answerOf(
  { body, type, base64, delivered, etag }: JsonObject,
  isPicture: boolean,
): RemoteAnswer | undefined {
  if (isPicture) {
    if (typeof type !== 'string' || !PICTURE.test(type) || typeof base64 !== 'string') return undefined;
    return { type, bytes: Buffer.from(base64, 'base64') };
  }
  if (body !== undefined && body !== null && !isObject(body)) return undefined;
  const isKnown = delivered === 'true' || delivered === 'false' || delivered === 'unknown';
  const isTag = typeof etag === 'string' && TAG.test(etag);
  return {
    bytes: Buffer.from(JSON.stringify(body ?? {})),
    ...(isKnown && { delivered }),
    ...(isTag && { etag }),
  };
}

const isCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(STATUS_BY_CODE, code);

/** The machine's own error. */
function errorOf({ code, message, details }: JsonObject): ServiceError {
  const { scope } = membersOf(details);
  if (code === 'scope_required' && typeof scope === 'string' && isScope(scope))
    return scopeRequired(scope, 'The key of the hub at this machine');
  const text = textOf(message, 'The machine reported no reason.');
  return new ServiceError(
    isCode(code) ? code : 'internal_error',
    text,
    isObject(details) ? details : undefined,
  );
}

const textOf = (message: unknown, otherwise = ''): string =>
  typeof message === 'string' ? message.slice(0, TEXTS.message) : otherwise;

const messageIn = (body: unknown): string => textOf(membersOf(body)['message']);
