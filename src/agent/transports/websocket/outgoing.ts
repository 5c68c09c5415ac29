/** A connection that this hub opens to a machine of `hub.agents`: from the upgrade to its end. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../../../clock.ts';
import { isScope } from '../../../scopes.ts';
import { WrongPin } from '../../../socket/peer-socket.ts';
import { openWebSocket, type PeerTarget } from '../../../socket/web-socket.ts';
import { isCertificateError, SOCKET_ERRORS } from '../../../socket-errors.ts';
import { type Framed, MAX_MESSAGE_BYTES, readMessage, textOf } from '../../protocol/frames.ts';
import type { Failure } from '../../remote/failure.ts';
import type { Times } from '../../remote/times.ts';
import type { MachineConnection } from './connected-machines.ts';
import type { DialPace } from './machine-pace.ts';

/** The machine of a connection. */
export interface OutgoingOwner {
  readonly pace: DialPace;
  /** A message, valid during the call only; false: it is not one of the protocol. */
  onMessage(message: Framed): boolean;
  /** Called once, unless `end` came first. */
  onEnd(failure: Failure): void;
}

interface OutgoingDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly times: Pick<Times, 'headMs' | 'silenceMs'>;
}

/** The topic of a message beside its payload. */
const TOPIC_BYTES = 128;
/** Maximum bytes queued for a peer that does not read. */
const MAX_WAITING_BYTES = 64 * 1024;

const down = (reason: string): Failure => ({ isRefusal: false, reason });
const refused = (reason: string): Failure => ({ isRefusal: true, reason });

const OTHER = down('the server at this URL is not hostwire');
const LATE = down('no answer in time');
const MALFORMED = down('it sent a malformed message');
const HUB = down('the server at this URL is a hub, not the service of a machine');

/** Why the answer to the upgrade is not one. `type`: its content type; `scope`: the one that it names as missing. */
function whyNotUpgraded(status: number, type = '', scope?: string | readonly string[]): Failure {
  if (status === 401) return refused('it requires a key, or rejected this one (401)');
  if (status === 403 && typeof scope === 'string' && isScope(scope))
    return refused(`this hub needs a key with the scope ${scope} (403)`);
  if (status === 403) return refused('it does not allow this address or host name (403)');
  if (status === 404 && type.startsWith('application/json'))
    return down('its version has no /api/agent for hubs (404); upgrade it to the version of this hub');
  if (status === 503) return down('the service already has 16 hubs (503)');
  return status < 400 || status === 404 ? OTHER : down(`it answered with status ${status}`);
}

function whyFailed(error: Error): Failure {
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof WrongPin) return refused(`${error.message}, not the one in hub.agents`);
  if (isCertificateError(code))
    return refused(`its certificate is not trusted (${code}); set its pin in hub.agents`);
  const known = SOCKET_ERRORS[code];
  if (known !== undefined) return down(known);
  if (code.startsWith('WS_ERR_')) return MALFORMED;
  // Errors of the HTTP parser and of the upgrade.
  if (code.startsWith('HPE_') || error.message.startsWith('Invalid ')) return OTHER;
  if (error.message === 'no answer in time') return LATE;
  return down(`the connection failed (${code || error.name})`);
}

/** Why a connection that was open has closed, by its close frame. */
const whyClosed = (code: number): Failure =>
  code === 1008 ? down('it closed the connection') : down('the connection was lost');

export class OutgoingConnection implements MachineConnection {
  readonly #deps: OutgoingDeps;
  readonly #owner: OutgoingOwner;
  readonly #ws: WebSocket;
  #socket: Socket | undefined;
  #isReady = false;
  #isOver = false;
  /** Ends it where its state is late. */
  #timer: unknown;
  #bytesRead = 0;
  #heardAtMs: number;
  #pingedAtMs: number;

  /** `key`: the API key of the machine. */
  constructor(target: PeerTarget, key: string | undefined, deps: OutgoingDeps, owner: OutgoingOwner) {
    const { clock, times } = deps;
    this.#deps = deps;
    this.#owner = owner;
    this.#heardAtMs = clock.now();
    this.#pingedAtMs = this.#heardAtMs;
    this.#ws = openWebSocket(target, {
      limitMs: times.headMs,
      maxPayloadBytes: MAX_MESSAGE_BYTES + TOPIC_BYTES,
      headers: {
        'User-Agent': 'hostwire-hub',
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      isOneOfMany: true,
      onConnected: (socket) => {
        this.#socket = socket;
      },
    });
    this.#timer = clock.setTimer(() => this.#fail(LATE), times.headMs);
    this.#ws
      // With the binary type that is set by default each message is one Buffer.
      .on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
      .on('ping', () => this.#isWithinPace(0))
      .on('unexpected-response', (request, { statusCode = 0, headers }) => {
        request.destroy();
        this.#fail(whyNotUpgraded(statusCode, headers['content-type'], headers['x-required-scope']));
      })
      .on('error', (error) => this.#fail(whyFailed(error)))
      .on('close', (code) => this.#fail(whyClosed(code)));
  }

  send(topic: string, payload: string): boolean {
    if (!this.#isReady || this.#isOver || this.#ws.bufferedAmount > MAX_WAITING_BYTES) return false;
    this.#ws.send(textOf(topic, payload));
    if (topic.startsWith('cmd/')) this.#owner.pace.expectAnswer();
    return true;
  }

  /** Called every second: pings a machine that is silent, and gives it up. */
  look(nowMs: number): void {
    if (!this.#isReady || this.#socket === undefined) return;
    const { silenceMs } = this.#deps.times;
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

  /** Ends it without a report. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.clock.clearTimer(this.#timer);
    // The library would wait 30 s for the close frame of a machine that is silent.
    this.#ws.terminate();
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    if (this.#isOver || !this.#isWithinPace(bytes.length)) return;
    const message = isBinary ? undefined : readMessage(bytes);
    if (!this.#isReady && message?.topic !== 'status')
      this.#fail(message?.topic === 'challenge' ? HUB : OTHER);
    else if (message === undefined) this.#fail(MALFORMED);
    else {
      if (!this.#isReady) this.#begin();
      if (!this.#owner.onMessage(message)) this.#fail(MALFORMED);
    }
  }

  #begin(): void {
    const { clock } = this.#deps;
    this.#isReady = true;
    clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#heardAtMs = clock.now();
  }

  #isWithinPace(bytes: number): boolean {
    if (this.#owner.pace.take(bytes, this.#deps.clock.now())) return true;
    this.#fail({ isRefusal: false, isFlood: true, reason: 'its agent exceeded the rate limit' });
    return false;
  }

  #fail(failure: Failure): void {
    if (this.#isOver) return;
    this.end();
    this.#owner.onEnd(failure);
  }
}
