/** The one error of this module: a code for programs, a sentence for people. */

/**
 * What can go wrong between the two sides:
 * - `unauthorized`, `forbidden`: the service answered 401 or 403; nothing is tried again.
 * - `unreachable`: no connection; `silent`: one on which nothing came any more; `ended`: the service ended the stream.
 * - `connection_lost`: it broke while the answer was awaited. A command may have been carried out.
 * - `not_connected`: a command was not sent, because the connection had been lost before.
 * - `timeout`: no answer in time. A command may have been carried out.
 * - `closed`: `close()` was called. A command that was sent may have been carried out.
 * - `bad_answer`: what answers there is not hostwire, or speaks another protocol.
 * - `refused`: another HTTP status than 200 without a code of its own; `too_large`: a message over the service's limit.
 * - `no_websocket`: this program has no WebSocket and was given none.
 */
export type ConnectionCode =
  | 'unauthorized'
  | 'forbidden'
  | 'unreachable'
  | 'silent'
  | 'ended'
  | 'connection_lost'
  | 'not_connected'
  | 'timeout'
  | 'closed'
  | 'bad_answer'
  | 'refused'
  | 'too_large'
  | 'no_websocket';

/** A code of this module, or one of the service's own: those of its HTTP answers, errors and feedback. */
export type ClientErrorCode = ConnectionCode | (string & {});

export interface ErrorFacts {
  readonly cause?: unknown;
  /** Of the HTTP answer. */
  readonly status?: number;
  /** What the service said beside the sentence. */
  readonly details?: unknown;
  /** How long the service asked to be left alone. */
  readonly retryAfterMs?: number;
}

export class ClientError extends Error {
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  readonly details: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(code: ClientErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ClientError';
    this.code = code;
    this.status = facts.status;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Whether trying again with the same key from the same address would be answered alike. */
export function isRefusal(error: ClientError): boolean {
  return error.status === 401 || error.status === 403;
}

export const silent = () => new ClientError('silent', 'nothing comes from the service any more');

export const badAnswer = () => new ClientError('bad_answer', 'what answers there is no hostwire service');

/** `reason`, whatever was thrown, as an error of this module; without one nobody answered in time. */
export function unreachable(reason?: unknown): ClientError {
  if (reason instanceof ClientError) return reason;
  return new ClientError('unreachable', 'the service cannot be reached', { cause: reason });
}
