/** A connection to an agent, and why it failed, in words. All connections read into one buffer. */

import net from 'node:net';
import tls from 'node:tls';
import { isCertificateError, SOCKET_ERRORS } from '../../socket-errors.ts';
import { pinOf } from '../../tls/certificate.ts';
import { type AnswerHead, BadAnswer } from './answer.ts';
import { lookUpWhile } from './names.ts';
import { Flood } from './pace.ts';
import type { Target } from './target.ts';

/** Why a request or its stream ended. */
export interface Failure {
  /** The agent answered, but refuses the hub, or is not the one that the pin names. */
  readonly isRefusal: boolean;
  /** The agent sent more than the hub takes: the next attempt is later than after other failures. */
  readonly isFlood?: boolean;
  /** A sentence without its full stop, for people. */
  readonly reason: string;
}

export interface SocketEvents {
  /** It is asked before a name is looked up, which may be long after. */
  isWanted(): boolean;
  /** Connected, and with the right key: something may be sent. */
  onReady(): void;
  /** The bytes are valid during the call only. */
  onBytes(bytes: Buffer): void;
  /** Called once, unless `destroy` came first; undefined: the agent has closed it in good order. */
  onEnd(failure: Failure | undefined): void;
}

/** A connection that is read copies nothing: bytes are parsed where the kernel put them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** The agent's answer is not the one that was asked for. */
class WrongAnswer extends Error {
  readonly isRefusal: boolean;

  constructor({ reason, isRefusal }: Failure) {
    super(reason);
    this.isRefusal = isRefusal;
  }
}

/** Why an answer is not 200 with this content type; undefined: it is. */
export function whyWrong({ status, headers }: AnswerHead, type: string): Failure | undefined {
  if (status === 401) return { isRefusal: true, reason: 'it refuses the key, or needs one (401)' };
  if (status === 403) return { isRefusal: true, reason: 'it refuses this address or host name (403)' };
  if (status !== 200) return { isRefusal: false, reason: `it answers with ${status}` };
  if (headers.get('content-type')?.startsWith(type) === true) return undefined;
  return { isRefusal: false, reason: 'what answers there is no hostwire' };
}

/** Throws unless the answer is 200 with this content type. */
export function checkHead(head: AnswerHead, type: string): void {
  const wrong = whyWrong(head, type);
  if (wrong !== undefined) throw new WrongAnswer(wrong);
}

export function failureOf(error: unknown): Failure {
  if (error instanceof WrongAnswer) return { isRefusal: error.isRefusal, reason: error.message };
  if (error instanceof BadAnswer)
    return { isRefusal: false, isFlood: error instanceof Flood, reason: error.message };
  if (!(error instanceof Error)) return { isRefusal: false, reason: String(error) };
  const code = 'code' in error ? String(error.code) : '';
  if (isCertificateError(code))
    return {
      isRefusal: true,
      reason: `its certificate is not accepted (${code}); set its pin in hub.agents`,
    };
  return { isRefusal: false, reason: SOCKET_ERRORS[code] ?? `the connection failed (${code || error.name})` };
}

/** Connects to an agent. `destroy()` of the socket ends it without a report. */
export function connectTo(target: Target, events: SocketEvents): net.Socket {
  const { host, port, isSecure, pin } = target;
  const onread = {
    buffer: SHARED,
    callback: (count: number) => {
      if (!socket.destroyed) events.onBytes(SHARED.subarray(0, count));
      return true;
    },
  };
  const options = { host, port, onread, noDelay: true, lookup: lookUpWhile(() => events.isWanted()) };
  const socket: net.Socket = !isSecure
    ? net.connect(options)
    : tls.connect({
        ...options,
        ...(net.isIP(host) === 0 ? { servername: host } : {}),
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        // With a pin the key decides instead, before anything is sent.
        rejectUnauthorized: pin === undefined,
      });
  socket.on('error', (error: Error) => events.onEnd(failureOf(error)));
  socket.on('close', () => events.onEnd(undefined));
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    const wrong = whyWrongKey(socket, pin);
    if (wrong === undefined) events.onReady();
    else events.onEnd({ isRefusal: true, reason: wrong });
  });
  return socket;
}

function whyWrongKey(socket: net.Socket, pin: string | undefined): string | undefined {
  if (pin === undefined || !(socket instanceof tls.TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  const found = certificate === undefined ? undefined : pinOf(certificate);
  return found === pin
    ? undefined
    : `its key has the pin ${found ?? 'of no certificate'}, and not the one in hub.agents`;
}
