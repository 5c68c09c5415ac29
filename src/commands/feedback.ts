/** What a command that was understood says when it fails: one code a reason, whichever door it came through. */
import type { ErrorCode, ServiceError } from '../errors.ts';

export type FeedbackCode = 'NOT_FOUND' | 'NOT_SUPPORTED' | 'CONFLICT' | 'PROTECTED' | 'TIMEOUT' | 'INTERNAL';

/** Errors without a row are no feedback: the message itself was wrong, or something is broken. */
const CODES: Readonly<Partial<Record<ErrorCode, FeedbackCode>>> = {
  not_found: 'NOT_FOUND',
  process_not_found: 'NOT_FOUND',
  player_not_found: 'NOT_FOUND',
  not_supported: 'NOT_SUPPORTED',
  process_changed: 'CONFLICT',
  power_pending: 'CONFLICT',
  not_possible_now: 'CONFLICT',
};

/** `details.feedback` is for what the errors of HTTP have no code of their own for. */
export function feedbackCodeOf({ code, details }: ServiceError): FeedbackCode {
  const told = details?.['feedback'];
  if (told === 'PROTECTED' || told === 'TIMEOUT') return told;
  return CODES[code] ?? 'INTERNAL';
}
