/** The commands of a hub's WebSockets: the sender gets their stages as from a service, others the end. */
import { ServiceError } from '../../errors.ts';
import {
  beginningOf,
  type Feedback,
  failureOf,
  type Group,
  stepOf,
  subjectOf,
} from '../../http/socket/feedback.ts';
import type { Params } from '../../params.ts';
import { frame, type Place, refusalFrame } from './messages.ts';
import type { Asker } from './requests.ts';
import type { AskedAnswer, CommandStep, EndedCommand, SocketAsking } from './rooms.ts';

interface Command {
  readonly group: Group;
  readonly action: string;
  readonly params: Params;
}

/**
 * Sends a command to the machine, once. A machine that reports no stages has one message: of a power action that is its
 * acceptance, and how it ends is in the topic `power`.
 */
export async function runCommand(
  rooms: Pick<SocketAsking, 'ask'>,
  asker: Asker,
  host: string,
  { group, action, params }: Command,
  place: Place,
): Promise<void> {
  const send = (feedback: object) => asker.send(frame(`${group}_feedback`, feedback, place));
  const isNumbered = place.id !== undefined;
  const onStep = (step: CommandStep) => {
    for (const feedback of feedbackOf(action, step, isNumbered)) send(feedback);
  };
  // An action of power is accepted only when the machine has answered.
  const follower = { owner: asker, onStep, withBeginning: isNumbered && group !== 'power' };
  try {
    const answer = await rooms.ask(host, `${group}.${action}`, params, asker.caller, follower);
    if (answer.isFollowed === true) return;
    const end = endOf(action, answer);
    const stage = isAcceptance(group, action) ? 'accepted' : end.success ? 'done' : 'failed';
    send(isNumbered ? { ...end, stage } : end);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const refusal = refusalFrame(error, place);
    if (refusal === undefined) send(failedOf(action, error, isNumbered));
    else asker.send(refusal);
  }
}

/** What a step is for its sender. Without an id that is its acceptance, and a failure after it. */
function feedbackOf(action: string, step: CommandStep, isNumbered: boolean): readonly object[] {
  const { message } = step;
  switch (step.stage) {
    case 'accepted': {
      const accepted = { success: true, action, message };
      return [isNumbered ? { ...accepted, final: false, stage: 'accepted' } : { ...accepted, final: true }];
    }
    case 'begun':
      return isNumbered ? beginningOf(action) : [];
    case 'unknown': {
      if (!isNumbered) return [];
      return [
        {
          success: false,
          action,
          message: lostSentence(message),
          final: true,
          code: UNKNOWN,
          stage: 'failed',
        },
      ];
    }
    default:
      return isNumbered || step.stage === 'failed'
        ? [stepOf(action, { stage: step.stage, message }, isNumbered)]
        : [];
  }
}

const UNKNOWN = 'OUTCOME_UNKNOWN';
const lostSentence = (reason: string) => `It was accepted, and it is not known how it ended: ${reason}.`;

/** The answer of an action of power is not its end. */
const isAcceptance = (group: Group, action: string) => group === 'power' && action !== 'cancel';

/** The feedback to those who follow the topic of a command that somebody else has sent; undefined: there is none. */
export function endedFeedback({ what, end }: Pick<EndedCommand, 'what' | 'end'>): EndedFeedback | undefined {
  const [prefix = '', action = ''] = what.split('.', 2);
  const group = GROUPS.find((each) => each === prefix);
  if (group === undefined) return undefined;
  const feedback = resultOf(group, action, end);
  return feedback === undefined ? undefined : { group, type: `${group}_feedback`, feedback };
}

export interface EndedFeedback {
  /** That of its topic. */
  readonly group: 'media' | 'process' | 'power';
  readonly type: string;
  readonly feedback: object;
}

/** Those with a topic. */
const GROUPS = ['media', 'process', 'power'] as const;

function resultOf(group: Group, action: string, end: EndedCommand['end']): object | undefined {
  if (end instanceof ServiceError) {
    // It was not begun, or nobody knows.
    const isResult = end.code !== 'outcome_unknown' && refusalFrame(end, NO_PLACE) === undefined;
    return isResult ? failureOf(action, end) : undefined;
  }
  if (!('stage' in end)) {
    return isAcceptance(group, action) ? undefined : endOf(action, end);
  }
  const { stage, message } = end;
  return stage === 'done' || stage === 'failed' ? stepOf(action, { stage, message }, false) : undefined;
}

const NO_PLACE: Place = { host: undefined, id: undefined };

function endOf(action: string, { bytes, delivered }: Pick<AskedAnswer, 'bytes' | 'delivered'>): Feedback {
  const reply = objectIn(bytes);
  if (delivered === 'false') {
    const message = 'No player has accepted the command.';
    return { success: false, action, message, final: true, code: 'NOT_SUPPORTED' };
  }
  const { message } = reply;
  return {
    success: true,
    action,
    message:
      delivered === 'unknown'
        ? 'Sent as a media key; delivery cannot be confirmed.'
        : typeof message === 'string'
          ? message
          : 'Done',
    final: true,
    ...subjectOf(reply),
  };
}

/** Empty where a machine has answered a request over HTTP with something else. */
function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}

function failedOf(action: string, error: ServiceError, isNumbered: boolean): object {
  const failure = failureOf(action, error) ?? {};
  const code = error.code === 'outcome_unknown' ? { code: UNKNOWN } : {};
  return { ...failure, ...code, ...(isNumbered ? { stage: 'failed' } : {}) };
}
