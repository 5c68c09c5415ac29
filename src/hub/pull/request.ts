/** One request to an agent on a connection of its own. All connections read into one buffer. */
import net from 'node:net';
import tls from 'node:tls';
import { pinOf } from '../../tls/certificate.ts';
import { type AnswerHead, AnswerParser, BadAnswer } from './answer.ts';
import { lookUpWhile } from './names.ts';
import type { Target } from './target.ts';

/** Why a request or its stream ended. */
export interface Failure {
  /** The agent answered, but refuses the hub, or is not the one that the pin names. */
  readonly isRefusal: boolean;
  /** A sentence without its full stop, for people. */
  readonly reason: string;
}

export interface Reply {
  /** May throw, as `onBody`: that ends the request. */
  onHead(head: AnswerHead): void;
  /** As in AnswerSink. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** Called once; without a failure the answer is complete. */
  onEnd(failure: Failure | undefined): void;
}

export interface RequestOptions {
  readonly method: 'GET' | 'HEAD';
  readonly path: string;
  /** Time for the connection and the head of the answer, and the longest silence after it. */
  readonly headMs: number;
  readonly silenceMs: number;
}

/** A connection that is read copies nothing: bytes are parsed where the kernel put them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
};

/** The agent's answer is not the one that was asked for. */
class WrongAnswer extends Error {
  readonly isRefusal: boolean;

  constructor(reason: string, isRefusal: boolean) {
    super(reason);
    this.isRefusal = isRefusal;
  }
}

/** Throws unless the answer is 200 with this content type. */
export function checkHead({ status, headers }: AnswerHead, type: string): void {
  if (status === 401) throw new WrongAnswer('it refuses the key, or needs one (401)', true);
  if (status === 403) throw new WrongAnswer('it refuses this address or host name (403)', true);
  if (status !== 200) throw new WrongAnswer(`it answers with ${status}`, false);
  if (headers.get('content-type')?.startsWith(type) !== true)
    throw new WrongAnswer('what answers there is no hostwire', false);
}

const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_|EPROTO)/;

function failureOf(error: Error): Failure {
  if (error instanceof WrongAnswer) return { isRefusal: error.isRefusal, reason: error.message };
  if (error instanceof BadAnswer) return { isRefusal: false, reason: error.message };
  const code = 'code' in error ? String(error.code) : '';
  if (CERTIFICATE.test(code))
    return {
      isRefusal: true,
      reason: `its certificate is not accepted (${code}); set its pin in hub.agents`,
    };
  return { isRefusal: false, reason: REASONS[code] ?? `the connection failed (${code || error.name})` };
}

export class AgentRequest {
  readonly #reply: Reply;
  readonly #parser: AnswerParser;
  #socket: net.Socket | undefined;
  #isClosed = false;

  constructor(target: Target, options: RequestOptions, reply: Reply) {
    this.#reply = reply;
    let hasHead = false;
    this.#parser = new AnswerParser(
      {
        onHead: (head) => {
          hasHead = true;
          this.#socket?.setTimeout(options.silenceMs);
          reply.onHead(head);
        },
        onBody: (bytes, start, end) => {
          if (!this.#isClosed) reply.onBody(bytes, start, end);
        },
        onEnd: () => this.#end(undefined),
      },
      options.method === 'GET',
    );
    const socket = this.#connect(target);
    this.#socket = socket;
    socket.setTimeout(options.headMs);
    socket.on('timeout', () =>
      this.#end({ isRefusal: false, reason: hasHead ? 'it has fallen silent' : 'it does not answer' }),
    );
    socket.on('error', (error: Error) => this.#end(failureOf(error)));
    socket.on('close', () => this.#closed());
    socket.once(target.isSecure ? 'secureConnect' : 'connect', () => {
      const wrong = whyWrongKey(socket, target.pin);
      if (wrong !== undefined) this.#end({ isRefusal: true, reason: wrong });
      else
        socket.write(
          `${options.method} ${options.path} HTTP/1.1\r\n${target.headers}Connection: close\r\n\r\n`,
        );
    });
  }

  /** Ends it without a report. */
  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect({ host, port, isSecure, pin }: Target): net.Socket {
    const onread = {
      buffer: SHARED,
      callback: (count: number) => {
        this.#push(SHARED.subarray(0, count));
        return true;
      },
    };
    const options = { host, port, onread, noDelay: true, lookup: lookUpWhile(() => !this.#isClosed) };
    if (!isSecure) return net.connect(options);
    return tls.connect({
      ...options,
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      // With a pin the key decides instead, before anything is sent.
      rejectUnauthorized: pin === undefined,
    });
  }

  #push(bytes: Buffer): void {
    if (this.#isClosed) return;
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.#end(failureOf(error instanceof Error ? error : new Error(String(error))));
    }
  }

  #closed(): void {
    if (this.#isClosed) return;
    try {
      this.#parser.close();
    } catch (error) {
      this.#end(failureOf(error instanceof Error ? error : new Error(String(error))));
    }
  }

  #end(failure: Failure | undefined): void {
    if (this.#isClosed) return;
    this.close();
    this.#reply.onEnd(failure);
  }
}

function whyWrongKey(socket: net.Socket, pin: string | undefined): string | undefined {
  if (pin === undefined || !(socket instanceof tls.TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  const found = certificate === undefined ? undefined : pinOf(certificate);
  return found === pin
    ? undefined
    : `its key has the pin ${found ?? 'of no certificate'}, and not the one in hub.agents`;
}
