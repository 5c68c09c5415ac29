/** The door of /api/ws to the table of commands: stages for who asks with an id, one message else; the rest hears once. */
import type { Commands, Follower, Outcome, Report, Step } from '../../commands/command.ts';
import { feedbackCodeOf } from '../../commands/feedback.ts';
import type { PowerFeedback } from '../../commands/power-queue.ts';
import { type ErrorCode, ServiceError, stackOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Params } from '../../params.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { CommandFeedback, ProcessCommandFeedback } from '../../wire/socket-events.ts';
import { errorText, eventText, sentenceOf } from './events.ts';

/** The groups of commands: each has its prefix in the table, its topic and its feedback. */
export type Group = 'media' | 'process' | 'power';

export type Feedback = CommandFeedback | ProcessCommandFeedback;

/** Who asks. */
export interface Asker {
  send(text: string): void;
  sendAndTell: (text: string, onDelivered: NonNullable<Outcome['onDelivered']>) => void;
  cork(body: () => void): void;
}

export interface Asked {
  readonly group: Group;
  readonly action: string;
  readonly params: Params;
  readonly id: MessageId | undefined;
}

export interface CommandDoorOptions {
  readonly commands: Commands;
  /** Sends feedback to the subscribers of a group, `askers` aside. */
  readonly broadcast: (group: Group, text: string, askers: ReadonlySet<Asker>) => void;
  readonly log: Log;
}

/** With these the message was wrong, not the machine. */
const NOT_UNDERSTOOD: ReadonlySet<ErrorCode> = new Set([
  'invalid_body',
  'missing_field',
  'invalid_value',
  'unknown_action',
]);

export const feedbackText = (group: Group, data: Feedback, id?: MessageId) =>
  eventText(`${group}_feedback`, data, id);

export class CommandDoor {
  readonly #options: CommandDoorOptions;
  readonly #askers = new WeakMap<Follower, Asker>();

  constructor(options: CommandDoorOptions) {
    this.#options = options;
  }

  /** Runs what `asker` asks for and answers it. Never rejects. */
  async run(asker: Asker, asked: Asked): Promise<void> {
    const { group, action, params, id } = asked;
    try {
      const run = this.#options.commands.prepare(`${group}.${action}`, params);
      if (run === 'feature_disabled') {
        asker.send(errorText('FEATURE_DISABLED', `${action} is switched off in the configuration.`, id));
        return;
      }
      // Of power only the machine knows whether it is accepted.
      if (id !== undefined && group !== 'power') tellBegun(asker, asked);
      const follower = this.#followerOf(asker, asked);
      answer(asker, asked, await run(follower));
    } catch (error) {
      asker.send(this.#failureText(asked, error));
    }
  }

  /** A command was answered, whichever door it came through: tells the subscribers of its group, if that is the end of it. */
  report({ name, answer: given, follower }: Report): void {
    const [prefix = '', action = ''] = name.split('.', 2);
    const group = groupOf(prefix);
    if (group === undefined) return;
    const feedback = given instanceof ServiceError ? failureOf(action, given) : endOf(action, given);
    if (feedback !== undefined) this.#broadcast(group, feedback, follower === undefined ? [] : [follower]);
  }

  /** An act of power has ended. Who asked for it has heard so as a follower. */
  reportPower({ action, success, message }: PowerFeedback, followers: ReadonlySet<Follower>): void {
    const feedback = { success, action, message, final: true };
    this.#broadcast('power', success ? feedback : { ...feedback, code: 'INTERNAL' }, [...followers]);
  }

  #broadcast(group: Group, feedback: Feedback, followers: readonly Follower[]): void {
    const askers = followers.flatMap((follower) => this.#askers.get(follower) ?? []);
    this.#options.broadcast(group, feedbackText(group, feedback), new Set(askers));
  }

  /** Without an id the answer was all there is to say, unless it turns out not to be true. */
  #followerOf(asker: Asker, { group, action, id }: Asked): Follower {
    const follower = (step: Step) => {
      if (id === undefined && step.stage !== 'failed') return;
      asker.send(feedbackText(group, stepOf(action, step, id !== undefined), id));
    };
    this.#askers.set(follower, asker);
    return follower;
  }

  #failureText({ group, action, id }: Asked, error: unknown): string {
    const known = error instanceof ServiceError ? error : undefined;
    if (known === undefined) this.#options.log.error(`${group}.${action} failed: ${stackOf(error)}`);
    const failure = known ?? new ServiceError('internal_error', 'The service failed; its log says why.');
    if (failure.details?.['feedback'] === 'FORBIDDEN') return errorText('FORBIDDEN', failure.message, id);
    const feedback = failureOf(action, failure);
    if (feedback === undefined) return errorText('INVALID_DATA', failure.message, id, failure.details);
    return feedbackText(group, id === undefined ? feedback : { ...feedback, stage: 'failed' }, id);
  }
}

const groupOf = (prefix: string): Group | undefined =>
  prefix === 'media' || prefix === 'process' || prefix === 'power' ? prefix : undefined;

function tellBegun(asker: Asker, { group, action, id }: Asked): void {
  const tell = (stage: 'accepted' | 'running', message: string) =>
    asker.send(feedbackText(group, { success: true, action, message, final: false, stage }, id));
  asker.cork(() => {
    tell('accepted', 'Accepted');
    tell('running', 'Running');
  });
}

function answer(asker: Asker, { group, action, id }: Asked, outcome: Outcome): void {
  const end = endOf(action, outcome);
  if (end !== undefined) {
    const stage = end.success ? 'done' : 'failed';
    asker.send(feedbackText(group, id === undefined ? end : { ...end, stage }, id));
    return;
  }
  const accepted = { success: true, action, message: messageOf(outcome) };
  const text = feedbackText(
    group,
    id === undefined ? { ...accepted, final: true } : { ...accepted, final: false, stage: 'accepted' },
    id,
  );
  if (outcome.onDelivered === undefined) asker.send(text);
  else asker.sendAndTell(text, outcome.onDelivered);
}

/** What is said of a command that has ended; undefined: it goes on. */
function endOf(action: string, outcome: Outcome): Feedback | undefined {
  const { result, delivered, failure, isFollowed } = outcome;
  if (isFollowed) return undefined;
  if (failure !== undefined) return failureOf(action, failure);
  const { pid, name, count } = result;
  return {
    success: true,
    action,
    message: delivered === 'unknown' ? SENT_BLINDLY : messageOf(outcome),
    final: true,
    ...subjectOf({ pid, name, count }),
  };
}

const SENT_BLINDLY = 'A media key was pressed; whether anything took it nobody can tell.';

function messageOf({ result }: Outcome): string {
  const { message } = result;
  return typeof message === 'string' ? message : 'Done';
}

/** undefined: the message was not understood or not allowed, which is no feedback. */
export function failureOf(action: string, error: ServiceError): Feedback | undefined {
  if (NOT_UNDERSTOOD.has(error.code)) return undefined;
  const { details = {} } = error;
  return {
    success: false,
    action,
    message: sentenceOf(error),
    final: true,
    code: feedbackCodeOf(error),
    ...subjectOf(details),
  };
}

function subjectOf({ pid, name, count }: Readonly<Record<string, unknown>>) {
  return {
    ...(typeof pid === 'number' ? { pid } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof count === 'number' ? { count } : {}),
  };
}

function stepOf(action: string, { stage, message }: Step, withStage: boolean): Feedback {
  const isOver = stage !== 'running';
  return {
    success: stage === 'running' || stage === 'done',
    action,
    message,
    final: isOver,
    ...(withStage ? { stage } : {}),
    ...(stage === 'failed' ? { code: 'INTERNAL' as const } : {}),
    ...(stage === 'cancelled' ? { code: 'CONFLICT' as const } : {}),
  };
}
