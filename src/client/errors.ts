/** The error of this module: a code for programs, a sentence for people. */
import { clean } from '../clean.ts';
import { isCertificateError, SOCKET_ERRORS } from '../socket-errors.ts';
import { MAX_ANSWER } from './limits.ts';

/**
 * Failures of the connection:
 * - `unauthorized`, `forbidden`: the service answered 401 or 403; there is no further attempt.
 * - `unreachable`: no connection, and in the message the reason, where the runtime reports one; `silent`: nothing arrived for a minute; `ended`: the service ended the stream.
 * - `connection_lost`: it was lost before the answer arrived. A command may have been carried out.
 * - `not_connected`: a command was not sent, because the connection was lost before.
 * - `timeout`: no answer in time. A command may have been carried out.
 * - `closed`: `close()` was called. A command that was sent may have been carried out.
 * - `bad_answer`: the server is not hostwire, or speaks another protocol version.
 * - `refused`: an HTTP status other than 200 without a code; `too_large`: a message over the service's limit, or an
 *   answer, an event or a message of the server over ours.
 * - `no_websocket`: this program has no WebSocket and none was passed.
 * - `untrusted_certificate`: the server's certificate is not accepted, and no pin was given; nothing was sent.
 * - `wrong_certificate`: the server's key does not have the pin; nothing was sent. `no_pinning`: a pin outside Node.
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
  | 'no_websocket'
  | 'untrusted_certificate'
  | 'wrong_certificate'
  | 'no_pinning';

/** A code of this module, or one that the service sends in HTTP answers, errors and feedback. */
export type ClientErrorCode = ConnectionCode | (string & {});

/** In UTF-16 units. */
const MAX_MESSAGE = 500;
const CODE = /^\w{1,64}$/;

type ErrorFacts = Partial<Pick<ClientError, 'status' | 'details' | 'retryAfterMs' | 'cause'>>;

export class ClientError extends Error {
  readonly code: ClientErrorCode;
  /** The status of the HTTP answer. */
  readonly status: number | undefined;
  /** Details that the service sent with the message. */
  readonly details: unknown;
  /** The delay that the service asked for before the next attempt. */
  readonly retryAfterMs: number | undefined;

  /** Programs print `message`, and a server may have chosen it and the code: it is cleaned and cut. */
  constructor(code: ClientErrorCode, message: string, facts: ErrorFacts = {}) {
    super(clean(message, MAX_MESSAGE), facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'ClientError';
    this.code = CODE.test(code) ? code : 'refused';
    this.status = facts.status;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs;
  }

  /** The scope that the key lacks; undefined unless the service refused for want of one. */
  get requiredScope(): string | undefined {
    const { scope } = Object(this.details) as { readonly scope?: unknown };
    return typeof scope === 'string' ? scope : undefined;
  }
}

/** Whether another attempt with the same key from the same address would get the same answer. */
export function isRefusal(error: ClientError): boolean {
  return error.status === 401 || error.status === 403;
}

export const silent = () => new ClientError('silent', 'no data from the service for 45 seconds');

export const badAnswer = () =>
  new ClientError('bad_answer', 'the server at this address is not a hostwire service');

/** `what` came from the server: `an event`. */
export const tooLarge = (what: string) =>
  new ClientError('too_large', `${what} of the service is longer than ${MAX_ANSWER / 2 ** 20} MiB`);

/**
 * Any thrown `reason` as an error of this module; undefined when there was no answer in time. `vague` is the error where
 * `reason` has none of the known codes, as in browsers.
 */
export function unreachable(reason?: unknown, vague?: ClientError): ClientError {
  if (reason instanceof ClientError) return reason;
  // fetch of Node wraps the error of its socket.
  const found = Object(Object(reason).cause ?? reason) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  const code = String(found.code);
  if (isCertificateError(code)) {
    // Node 26 adds advice for its own options.
    const [flaw] = String(found.message).split(';', 1);
    return new ClientError('untrusted_certificate', `the service's certificate is not trusted: ${flaw}`, {
      cause: reason,
    });
  }
  const why = reason === undefined ? 'no answer in time' : SOCKET_ERRORS[code];
  if (why === undefined && vague !== undefined) return vague;
  const sentence = `the service cannot be reached${why === undefined ? '' : `: ${why}`}`;
  return new ClientError('unreachable', sentence, { cause: reason });
}
