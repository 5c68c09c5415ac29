/** What an agent's answer other than 200 means: its own error, or that it cannot be reached. */
import { type ErrorCode, ServiceError, STATUS_BY_CODE } from '../../errors.ts';
import { isObject, readJsonObject } from '../host/json.ts';
import type { WholeAnswer } from '../pull/connection.ts';
import type { Failure } from '../pull/socket.ts';

/** Errors are short; more is not the service's. */
const MAX_ERROR_BYTES = 64 * 1024;

/** These are of the connection between hub and agent, and nothing was done. */
const OF_CONNECTION: ReadonlySet<ErrorCode> = new Set([
  'bad_request',
  'shutting_down',
  'too_many_connections',
  'too_many_streams',
]);

const isCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(STATUS_BY_CODE, code);

export const headerOf = ({ headers }: WholeAnswer, name: string): string => headers.get(name) ?? '';

/** The error for clients: nothing was done. */
export function unreachable(failure: Failure | undefined): ServiceError {
  const { isRefusal, reason } = failure ?? { isRefusal: false, reason: 'its answer is not understood' };
  return isRefusal
    ? new ServiceError('host_unreachable', 'The machine refuses this hub.', { state: 'refused', reason })
    : new ServiceError('host_unreachable', 'The machine cannot be reached.', { state: 'down', reason });
}

/** The error that an answer has; undefined: none that is understood. */
export function errorIn(answer: WholeAnswer): ServiceError | undefined {
  const { status, bytes } = answer;
  if (status === 403) {
    if (headerOf(answer, 'x-error-code') !== 'feature_disabled') return undefined;
    return new ServiceError('feature_disabled', 'It is switched off in the configuration of the machine.');
  }
  if (bytes.length > MAX_ERROR_BYTES) return undefined;
  const { error, code, details } = readJsonObject(bytes) ?? {};
  if (!isCode(code) || STATUS_BY_CODE[code] !== status || typeof error !== 'string') return undefined;
  const extra = isObject(details) ? details : undefined;
  if (typeof extra?.['lateness'] === 'string')
    return unreachable({ isRefusal: false, reason: 'it got the command too late, and has not done it' });
  if (OF_CONNECTION.has(code)) return unreachable({ isRefusal: false, reason: `it answers with ${code}` });
  return new ServiceError(code, error, extra);
}

const HOST_NAME = /^[!-~]{1,253}$/;

/** `hostname` of an answer of /api/system. */
export function hostNameIn(bytes: Buffer): string | undefined {
  const { hostname } = readJsonObject(bytes) ?? {};
  return typeof hostname === 'string' && HOST_NAME.test(hostname) ? hostname : undefined;
}
