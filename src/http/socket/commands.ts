/**
 * Runs commands that arrive over /api/ws. A sender with an id gets progress stages, one without gets a single reply; other
 * subscribers are notified once.
 */
import type { Commands, Follower, Outcome, Report, Step } from '../../commands/command.ts';
import type { Power } from '../../commands/power.ts';
import type { PowerFeedback } from '../../commands/power-queue.ts';
import { ServiceError, stackOf } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import type { Params } from '../../params.ts';
import type { MessageId } from '../../wire/socket.ts';
import type { Caller } from '../clients/caller.ts';
import { errorText } from './events.ts';
import {
  beginningOf,
  type Feedback,
  failureOf,
  feedbackText,
  type Group,
  stepOf,
  subjectOf,
} from './feedback.ts';
import { TOPIC_ROWS } from './topics.ts';

/** The sender of a command. */
export interface Asker {
  readonly caller: Caller;
  send(text: string): void;
  /** Calls `onDelivered` once the text has left or the connection has closed. */
  sendTracked: (text: string, onDelivered: NonNullable<Outcome['onDelivered']>) => void;
  cork(body: () => void): void;
}

export interface CommandRequest {
  readonly group: Group;
  readonly action: string;
  readonly params: Params;
  readonly id: MessageId | undefined;
}

export interface CommandDoorOptions {
  readonly commands: Pick<Commands, 'prepare' | 'onReport'>;
  readonly power: Pick<Power, 'onFeedback'>;
  /** Sends feedback to the subscribers of a group, except `askers`. */
  readonly broadcast: (group: Group, text: string, askers: ReadonlySet<Asker>) => void;
  readonly log: Log;
}

export class CommandDoor {
  readonly #options: CommandDoorOptions;
  readonly #askers = new WeakMap<Follower, Asker>();

  constructor(options: CommandDoorOptions) {
    this.#options = options;
    options.commands.onReport((report) => this.#report(report));
    options.power.onFeedback((feedback, followers) => this.#reportPower(feedback, followers));
  }

  /** Runs a command of `asker` and replies. Never rejects. */
  async run(asker: Asker, request: CommandRequest): Promise<void> {
    const { group, action, params, id } = request;
    try {
      const run = this.#options.commands.prepare(`${group}.${action}`, params, asker.caller);
      // A power action is accepted only when the machine has answered.
      if (id !== undefined && group !== 'power') sendBegun(asker, request);
      const follower = this.#followerOf(asker, request);
      reply(asker, request, await run(follower));
    } catch (error) {
      asker.send(this.#failureText(request, error));
    }
  }

  /** Notifies the subscribers of a command's group, whichever door it came through, if its reply is its end. */
  #report({ name, answer: given, follower, isRefused }: Report): void {
    if (isRefused) return;
    const [prefix = '', action = ''] = name.split('.', 2);
    const group = groupOf(prefix);
    if (group === undefined) return;
    const feedback = given instanceof ServiceError ? failureOf(action, given) : endOf(action, given);
    if (feedback !== undefined) this.#broadcast(group, feedback, follower === undefined ? [] : [follower]);
  }

  /** The same for a power action that has ended. Its followers were notified as such. */
  #reportPower({ action, success, message }: PowerFeedback, followers: ReadonlySet<Follower>): void {
    const feedback = { success, action, message, final: true };
    this.#broadcast('power', success ? feedback : { ...feedback, code: 'INTERNAL' }, [...followers]);
  }

  #broadcast(group: Group, feedback: Feedback, followers: readonly Follower[]): void {
    const askers = followers.flatMap((follower) => this.#askers.get(follower) ?? []);
    this.#options.broadcast(group, feedbackText(group, feedback), new Set(askers));
  }

  /** A sender without an id gets nothing after the reply, unless the command fails. */
  #followerOf(asker: Asker, { group, action, id }: CommandRequest): Follower {
    const follower = (step: Step) => {
      if (id === undefined && step.stage !== 'failed') return;
      asker.send(feedbackText(group, stepOf(action, step, id !== undefined), id));
    };
    this.#askers.set(follower, asker);
    return follower;
  }

  #failureText({ group, action, id }: CommandRequest, error: unknown): string {
    const known = error instanceof ServiceError ? error : undefined;
    if (known === undefined) this.#options.log.error(`${group}.${action} failed: ${stackOf(error)}`);
    const failure = known ?? new ServiceError('internal_error', 'The service failed; its log says why.');
    if (failure.code === 'feature_disabled') return errorText('FEATURE_DISABLED', failure.message, id);
    if (failure.details?.['feedback'] === 'FORBIDDEN') return errorText('FORBIDDEN', failure.message, id);
    const feedback = failureOf(action, failure);
    if (feedback === undefined) return errorText('INVALID_DATA', failure.message, id, failure.details);
    return feedbackText(group, id === undefined ? feedback : { ...feedback, stage: 'failed' }, id);
  }
}

const GROUPS: readonly Group[] = Object.values(TOPIC_ROWS).map(({ group }) => group);
const groupOf = (prefix: string) => GROUPS.find((group) => group === prefix);

function sendBegun(asker: Asker, { group, action, id }: CommandRequest): void {
  asker.cork(() => {
    for (const begun of beginningOf(action)) asker.send(feedbackText(group, begun, id));
  });
}

function reply(asker: Asker, { group, action, id }: CommandRequest, outcome: Outcome): void {
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
  else asker.sendTracked(text, outcome.onDelivered);
}

/** The feedback for a command that has ended; undefined: it goes on. */
function endOf(action: string, outcome: Outcome): Feedback | undefined {
  const { result, delivered, failure, isFollowed } = outcome;
  if (isFollowed) return undefined;
  if (failure !== undefined) return failureOf(action, failure);
  return {
    success: true,
    action,
    message: delivered === 'unknown' ? SENT_BLINDLY : messageOf(outcome),
    final: true,
    ...subjectOf(result),
  };
}

const SENT_BLINDLY = 'Sent as a media key; delivery cannot be confirmed.';

function messageOf({ result }: Outcome): string {
  const { message } = result;
  return typeof message === 'string' ? message : 'Done';
}
