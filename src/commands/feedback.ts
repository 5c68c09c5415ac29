/** The feedback code of a command that was understood and failed: one per reason, whichever adapter it came through. */
import type { ErrorCode, ServiceError } from '../errors.ts';

export type FeedbackCode = 'NOT_FOUND' | 'NOT_SUPPORTED' | 'CONFLICT' | 'PROTECTED' | 'TIMEOUT' | 'INTERNAL';

/** An error without a row is INTERNAL: something is broken. */
const CODES: Readonly<Partial<Record<ErrorCode, FeedbackCode>>> = {
  not_found: 'NOT_FOUND',
  process_not_found: 'NOT_FOUND',
  player_not_found: 'NOT_FOUND',
  not_supported: 'NOT_SUPPORTED',
  process_changed: 'CONFLICT',
  power_pending: 'CONFLICT',
  not_possible_now: 'CONFLICT',
};

/** `details.feedback` names the codes that HTTP errors have no code of their own for. */
export function feedbackCodeOf({ code, details }: ServiceError): FeedbackCode {
  const named = details?.['feedback'];
  if (named === 'PROTECTED' || named === 'TIMEOUT') return named;
  return CODES[code] ?? 'INTERNAL';
}
