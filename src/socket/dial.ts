/** A WebSocket that this side opens to a hub or to a machine, from the upgrade to its end. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../clock.ts';
import { isScope } from '../scopes.ts';
import { isCertificateError, SOCKET_ERRORS } from '../socket-errors.ts';
import { type Carrier, type CarrierEvents, down, type Failure, isPlain, refused } from './carrier.ts';
import { WrongPin } from './peer-socket.ts';
import { openWebSocket, type PeerTarget } from './web-socket.ts';

export interface DialRequest {
  readonly target: PeerTarget;
  /** The path and query of the upgrade, after the prefix of the target. */
  readonly path: string;
  /** Sent as a Bearer token; undefined: none. */
  readonly key: string | undefined;
}

/** Thousands of connections may have these in common; what is in the request is not kept. */
export interface DialOptions {
  readonly userAgent: string;
  /** A longer frame ends the connection. */
  readonly maxFrameBytes: number;
  /** Whether there are thousands of such connections. */
  readonly isOneOfMany: boolean;
  /** Until the upgrade is answered. */
  readonly limitMs: number;
  /** Without a byte for three quarters of it the connection ends; the first ping is sent after one. */
  readonly silenceMs: number;
  /** Called with the address that it is connected to, before a byte of HTTP is sent; a failure ends it. */
  readonly refuse?: (peerAddress: string) => Failure | undefined;
  /** The key of the configuration that has the pin, for sentences. */
  readonly pinKey: 'hub.agents' | 'hub.pin';
  /** Why an upgrade is answered with a status, where this differs between hubs and machines. */
  readonly reasons?: Readonly<Record<number, string>>;
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
}

export interface DialEvents extends CarrierEvents {
  /** The upgrade is done. */
  onOpen?(): void;
}

/** Time for frames and the close frame to leave, in real time, which is what the network takes. */
const LEAVE_MS = 100;
/** Close codes of RFC 6455: done, and policy violation. */
const [DONE, POLICY] = [1000, 1008] as const;

const OTHER = down('the server at this URL is not hostwire');
const LATE = down('no answer in time');
const MALFORMED = down('it sent a malformed message');

/** Why a connection that was open has closed, by its close frame. */
function whyClosed(code: number, reason: string): Failure {
  if (isPlain(reason)) return down(`it closed the connection: ${reason}`);
  return down(code === POLICY ? 'it closed the connection' : 'the connection was lost');
}

/** Ends the attempt with `failure`. */
class Refused extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.reason);
    this.failure = failure;
  }
}

export class Dial implements Carrier {
  readonly #options: DialOptions;
  readonly #events: DialEvents;
  readonly #ws: WebSocket;
  #socket: Socket | undefined;
  #isOver = false;
  /** Ends it where the upgrade is not answered. */
  #timer: unknown;
  #bytesRead = 0;
  #heardAtMs: number;
  #pingedAtMs: number;

  constructor({ target, path, key }: DialRequest, options: DialOptions, events: DialEvents) {
    const { userAgent, maxFrameBytes, isOneOfMany, limitMs, refuse, clock } = options;
    this.#options = options;
    this.#events = events;
    this.#heardAtMs = clock.now();
    this.#pingedAtMs = this.#heardAtMs;
    this.#ws = openWebSocket(target, {
      path,
      limitMs,
      maxPayloadBytes: maxFrameBytes,
      headers: { 'User-Agent': userAgent, ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
      isOneOfMany,
      // Node keeps an address that is read.
      refuse: (socket) => {
        const failure = refuse?.(socket.remoteAddress ?? '');
        return failure && new Refused(failure);
      },
      onConnected: (socket) => {
        this.#socket = socket;
      },
    });
    this.#timer = clock.setTimer(() => this.#fail(LATE), limitMs);
    this.#ws
      .once('open', () => this.#begin())
      .on('unexpected-response', (request, { statusCode = 0, headers }) => {
        request.destroy();
        this.#fail(this.#whyNotUpgraded(statusCode, headers['content-type'], headers['x-required-scope']));
      })
      .on('error', (error) => this.#fail(this.#whyFailed(error)))
      .on('close', (code, reason) => this.#fail(whyClosed(code, reason.toString())));
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#ws.readyState === this.#ws.OPEN;
  }

  get waitingBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** The address of the other side; empty before there is a connection. */
  get peerAddress(): string {
    return this.#socket?.remoteAddress ?? '';
  }

  send(text: string, onSent?: () => void): void {
    if (!this.isOpen) return;
    if (onSent === undefined) this.#ws.send(text);
    else
      this.#ws.send(text, (error) => {
        if (!error) onSent();
      });
  }

  end(reason: string): void {
    if (this.#isOver) return;
    const { isOpen } = this;
    this.#finish();
    if (!isOpen) {
      this.#ws.terminate();
      return;
    }
    this.#ws.close(DONE, reason);
    // The library would wait 30 s for the close frame of a peer that is silent.
    setTimeout(() => this.#ws.terminate(), LEAVE_MS).unref();
  }

  /** To be called about every second: pings a peer that is silent, and gives it up. */
  look(nowMs: number): void {
    if (!this.isOpen || this.#socket === undefined) return;
    const { silenceMs } = this.#options;
    const { bytesRead } = this.#socket;
    if (bytesRead !== this.#bytesRead) {
      this.#bytesRead = bytesRead;
      this.#heardAtMs = nowMs;
    }
    const quietMs = nowMs - this.#heardAtMs;
    if (quietMs > (silenceMs * 3) / 4) this.#fail(down('no message within the timeout'));
    else if (quietMs >= silenceMs / 4 && nowMs - this.#pingedAtMs >= silenceMs / 4) {
      this.#pingedAtMs = nowMs;
      this.#ws.ping();
    }
  }

  #begin(): void {
    const { clock } = this.#options;
    if (this.#isOver) return;
    clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#heardAtMs = clock.now();
    // Listeners of one state only: all six together would take twice the memory for good.
    this.#ws
      .removeAllListeners('unexpected-response')
      // With the binary type that is set by default each message is one Buffer.
      .on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
      .on('ping', () => {
        if (!this.#isOver) this.#events.onControl();
      });
    this.#events.onOpen?.();
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    if (this.#isOver) return;
    if (isBinary) this.#fail(MALFORMED);
    else this.#events.onFrame(bytes);
  }

  /** `type`: the content type of the answer; `scope`: the one that it names as missing. */
  #whyNotUpgraded(status: number, type = '', scope?: string | readonly string[]): Failure {
    const reason = this.#options.reasons?.[status];
    if (status === 401) return refused(reason ?? 'it requires a key, or rejected this one (401)');
    if (status === 403 && typeof scope === 'string' && isScope(scope))
      return refused(`it needs a key with the scope ${scope} (403)`);
    if (status === 403) return refused(reason ?? 'it does not allow this address or host name (403)');
    if (reason !== undefined && (status !== 404 || type.startsWith('application/json'))) return down(reason);
    return status < 400 || status === 404 ? OTHER : down(`it answered with status ${status}`);
  }

  #whyFailed(error: Error): Failure {
    const { pinKey } = this.#options;
    const code = 'code' in error ? String(error.code) : '';
    if (error instanceof Refused) return error.failure;
    if (error instanceof WrongPin) return refused(`${error.message}, not the one in ${pinKey}`);
    if (isCertificateError(code)) {
      const advice = pinKey === 'hub.pin' ? 'set hub.pin' : `set its pin in ${pinKey}`;
      return refused(`its certificate is not trusted (${code}); ${advice}`);
    }
    const known = SOCKET_ERRORS[code];
    if (known !== undefined) return down(known);
    if (code.startsWith('WS_ERR_')) return MALFORMED;
    // Errors of the HTTP parser and of the upgrade.
    if (code.startsWith('HPE_') || error.message.startsWith('Invalid ')) return OTHER;
    if (error.message === LATE.reason) return LATE;
    return down(`the connection failed (${code || error.name})`);
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return;
    this.#finish();
    this.#ws.terminate();
    this.#events.onEnd(failure);
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.clock.clearTimer(this.#timer);
  }
}
