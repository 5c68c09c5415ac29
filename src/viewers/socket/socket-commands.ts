/** Commands over WebSockets: the sender gets the steps of its command, other subscribers of its topic the end. */

import type { Caller } from '../../access/caller.ts';
import { type Delivery, type Step, sentenceOf } from '../../commands/command.ts';
import { ServiceError, stackOf } from '../../errors.ts';
import { parseObject } from '../../json.ts';
import type { Log } from '../../log/log.ts';
import { type CommandEnd, type Machine, type MachineAnswer, textOf } from '../../machine/machine.ts';
import { type NamedRequest, REQUESTS } from '../../machine/requests.ts';
import { beginningOf, type Feedback, failureOf, type Group, stepOf, subjectOf } from './feedback.ts';
import { errorFrame, frame, NOWHERE, type Place, refusalFrame } from './messages.ts';

/** The sender of a request. */
export interface Requester {
  readonly caller: Caller;
  /** The session that has its answers. */
  readonly owner: object;
  send(text: string): void;
  /** Calls `onDelivered` once the text has left or the connection has closed. */
  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void;
  /** Messages that `body` sends leave together. */
  cork(body: () => void): void;
}

const groupOf = (what: string) => what.slice(0, what.indexOf('.')) as Group; // That of a command of an op.
const actionOf = (what: string) => what.slice(what.indexOf('.') + 1);

/**
 * Carries out a command, once. A machine that reports no steps has one message: of a power action that is its acceptance,
 * and how it ends is in the topic `power`. Never rejects.
 */
export async function runCommand(
  machine: Machine,
  requester: Requester,
  { what, params }: NamedRequest,
  place: Place,
  log: Pick<Log, 'error'>,
): Promise<void> {
  const [group, action] = [groupOf(what), actionOf(what)];
  const textOfFeedback = (feedback: object) => frame(`${group}_feedback`, feedback, place);
  const isNumbered = place.id !== undefined;
  const onStep = (step: Step) => {
    const { onDelivered } = step;
    const texts = feedbackOf(action, step, isNumbered).map(textOfFeedback);
    if (onDelivered !== undefined) requester.sendTracked(texts.join(''), onDelivered);
    else if (texts.length > 1) requester.cork(() => texts.forEach((text) => requester.send(text)));
    else for (const text of texts) requester.send(text);
  };
  // A power action is accepted only when the machine has answered.
  const follower = { owner: requester.owner, onStep, withBeginning: isNumbered && group !== 'power' };
  try {
    const answer = await machine.ask({ what, params, client: requester.caller, follower });
    if (answer.isFollowed === true) return;
    const end = endOf(action, answer);
    const stage = isAcceptance(what) ? 'accepted' : end.success ? 'done' : 'failed';
    requester.send(textOfFeedback(isNumbered ? { ...end, stage } : end));
  } catch (error) {
    requester.send(failureText(what, error, place, log));
  }
}

/** The feedback of a step for its sender. Without an id that is its acceptance, and a failure after it. */
function feedbackOf(action: string, step: Step, isNumbered: boolean): readonly object[] {
  const { stage, message } = step;
  switch (stage) {
    case 'accepted': {
      const accepted = { success: true, action, message };
      return [isNumbered ? { ...accepted, final: false, stage } : { ...accepted, final: true }];
    }
    case 'begun':
      return isNumbered ? beginningOf(action) : [];
    case 'unknown': {
      const text = `It was accepted, and it is not known how it ended: ${message}.`;
      const unknown = { success: false, action, message: text, final: true, code: UNKNOWN, stage: 'failed' };
      return isNumbered ? [unknown] : [];
    }
    default:
      return isNumbered || stage === 'failed' ? [stepOf(action, { stage, message }, isNumbered)] : [];
  }
}

const UNKNOWN = 'OUTCOME_UNKNOWN';

/** The answer of a power action is not its end. */
const isAcceptance = (what: string) => REQUESTS.get(what)?.answersFirst === true;

/** Returns an error as clients see it; an unexpected one is logged. */
export function shownError(what: string, error: unknown, log: Pick<Log, 'error'>): ServiceError {
  if (error instanceof ServiceError) return error;
  log.error(`${what} failed: ${stackOf(error)}`);
  return new ServiceError('internal_error', 'The service failed; its log says why.');
}

function failureText(what: string, error: unknown, place: Place, log: Pick<Log, 'error'>): string {
  const failure = shownError(what, error, log);
  if (failure.details?.['feedback'] === 'FORBIDDEN') return errorFrame('FORBIDDEN', failure.message, place);
  const refusal = refusalFrame(failure, place);
  if (refusal !== undefined) return refusal;
  const feedback = failureOf(actionOf(what), failure) ?? {};
  const code = failure.code === 'outcome_unknown' ? { code: UNKNOWN } : {};
  const stage = place.id === undefined ? {} : { stage: 'failed' };
  return frame(`${groupOf(what)}_feedback`, { ...feedback, ...code, ...stage }, place);
}

export interface EndFeedback {
  /** That of its topic. */
  readonly group: (typeof GROUPS)[number];
  readonly feedback: object;
}

/** The groups of commands with a topic. */
const GROUPS = ['media', 'process', 'power'] as const;

/** The feedback for the subscribers of the topic of a command; undefined: there is none. */
export function feedbackOfEnd({ what, end }: Pick<CommandEnd, 'what' | 'end'>): EndFeedback | undefined {
  const group = GROUPS.find((each) => each === groupOf(what));
  const feedback = group && resultOf(what, end);
  return group === undefined || feedback === undefined ? undefined : { group, feedback };
}

function resultOf(what: string, end: CommandEnd['end']): object | undefined {
  const action = actionOf(what);
  if (end instanceof ServiceError) {
    // It was not begun, or its outcome is unknown.
    const isResult = end.code !== 'outcome_unknown' && refusalFrame(end, NOWHERE) === undefined;
    return isResult ? failureOf(action, end) : undefined;
  }
  if (!('stage' in end)) return isAcceptance(what) ? undefined : endOf(action, end);
  const { stage, message } = end;
  return stage === 'done' || stage === 'failed' ? stepOf(action, { stage, message }, false) : undefined;
}

const NOT_ACCEPTED = new ServiceError('not_supported', 'No player has accepted the command.');

function endOf(action: string, answer: MachineAnswer): Feedback {
  const { delivered } = answer;
  const failure = answer.failure ?? (delivered === 'false' ? NOT_ACCEPTED : undefined);
  const failed = failure && failureOf(action, failure);
  if (failed !== undefined) return failed;
  // A machine may have answered with something else.
  const result = parseObject(textOf(answer)) ?? {};
  return {
    success: true,
    action,
    message:
      delivered === 'unknown' ? 'Sent as a media key; delivery cannot be confirmed.' : sentenceOf(result),
    final: true,
    ...subjectOf(result),
  };
}
