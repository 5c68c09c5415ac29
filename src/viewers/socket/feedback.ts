/** The data of the feedback messages of commands. */
import type { Step } from '../../commands/command.ts';
import { feedbackCodeOf } from '../../commands/feedback.ts';
import type { ErrorCode, ServiceError } from '../../errors.ts';
import type {
  CommandFeedback,
  ProcessCommandFeedback,
  SocketEvent,
  WakeCommandFeedback,
} from '../../wire/socket-events.ts';
import type { WakeTarget } from '../../wire/wake.ts';
import { sentenceOf } from './messages.ts';

type GroupOf<Event> = Event extends `${infer Name}_feedback` ? Name : never;
/** A group of commands: their prefix in the table, and the event of their feedback. */
export type Group = GroupOf<SocketEvent>;

export type Feedback = CommandFeedback | ProcessCommandFeedback | WakeCommandFeedback;

/** The codes of messages that were not understood. */
const NOT_UNDERSTOOD: ReadonlySet<ErrorCode> = new Set([
  'invalid_body',
  'missing_field',
  'invalid_value',
  'unknown_action',
]);

/** undefined: the message was not understood, which is answered with an error instead. */
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

/** The subject of an action: the keys that the feedback of its group has. */
export function subjectOf({ pid, name, count, mac, targets }: Readonly<Record<string, unknown>>) {
  return {
    ...(typeof pid === 'number' ? { pid } : {}),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof count === 'number' ? { count } : {}),
    ...(typeof mac === 'string' ? { mac } : {}),
    // Only commands/wake.ts has such a key.
    ...(Array.isArray(targets) ? { targets: targets as readonly WakeTarget[] } : {}),
  };
}

/** The first two messages about a command that has begun, to a sender with an id. */
export const beginningOf = (action: string): readonly Feedback[] => [
  { success: true, action, message: 'Accepted', final: false, stage: 'accepted' },
  { success: true, action, message: 'Running', final: false, stage: 'running' },
];

/** A step of a command that continues after its reply. */
export function stepOf(
  action: string,
  { stage, message }: Step & { readonly stage: 'running' | 'done' | 'failed' | 'cancelled' },
  withStage: boolean,
): Feedback {
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
