/** One HTTP request to a receiver: no redirects, an answer of limited size, and a deadline for all of it. */
import http from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { codeOf, messageOf as reasonOf } from '../errors.ts';
import { QUOTAS } from '../fairness/limits.ts';
import { connectTo, WrongPin } from '../socket/peer-socket.ts';
import { isCertificateError, SOCKET_ERRORS } from '../socket-errors.ts';
import { fromUrl } from '../url-host.ts';

export interface Answer {
  readonly status: number;
  /** The header Retry-After. */
  readonly retryAfter: string | undefined;
  /** At most 64 KiB; the part that arrived in time. */
  readonly body: string;
}

export interface Sent {
  readonly url: string;
  /** Sent by POST; undefined: nothing is sent but GET. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Compared with the key of the receiver, instead of checking its certificate. */
  readonly pin?: string | undefined;
  /** Authorities in PEM form; undefined: those that Node knows. */
  readonly ca?: string | undefined;
}

/** The message of the error of a socket that was not connected in time, too. */
const LATE = 'no answer in time';
const DEADLINE_MS = 10_000;

type CreateConnection = NonNullable<RequestOptions['createConnection']>;
type Done = Parameters<typeof connectTo>[2];

/**
 * Rejects with an Error whose message names the cause, and no address. An answer whose body does not arrive in time is one:
 * its status says whether the message was accepted. `signal` ends the request.
 */
export async function send(sent: Sent, signal: AbortSignal, deadlineMs = DEADLINE_MS): Promise<Answer> {
  const { url, body, headers, pin, ca } = sent;
  const { protocol, hostname, port: given } = new URL(url);
  const isSecure = protocol === 'https:';
  const port = Number(given || (isSecure ? 443 : 80));
  // Its types have no callback, which it has.
  const createConnection = ((_: unknown, done: Done): undefined => {
    const endpoint = { host: fromUrl(hostname), port, isSecure, pin, ca };
    connectTo(endpoint, { limitMs: deadlineMs, isOneOfMany: false }, done);
  }) as unknown as CreateConnection;
  const request = (isSecure ? https : http).request(url, {
    method: body === undefined ? 'GET' : 'POST',
    createConnection,
    signal,
    headers: { 'User-Agent': 'hostwire', ...headers },
  });
  const timer = setTimeout(() => request.destroy(new Error(LATE)), deadlineMs);
  try {
    const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).on('error', reject).end(body);
    });
    const { statusCode: status = 0, headers: got } = incoming;
    return { status, retryAfter: got['retry-after'], body: await readBody(incoming) };
  } catch (error) {
    throw new Error(whyFailed(error));
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

async function readBody(incoming: http.IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const piece of incoming.setEncoding('latin1')) {
      text += piece;
      if (text.length >= QUOTAS.receiverAnswer.maxBytes) break;
    }
  } catch {
    // The rest did not arrive in time.
  }
  return Buffer.from(text.slice(0, QUOTAS.receiverAnswer.maxBytes), 'latin1').toString();
}

function whyFailed(error: unknown): string {
  const code = codeOf(error);
  if (error instanceof WrongPin) return `${error.message}, which is not the one of the configuration`;
  if (isCertificateError(code)) return `its certificate is not accepted (${code}); set its pin or ca`;
  if (code.startsWith('HPE_')) return 'its answer is not HTTP';
  const known = SOCKET_ERRORS[code];
  if (known !== undefined) return known;
  return reasonOf(error) === LATE ? LATE : `the connection failed (${code})`;
}
