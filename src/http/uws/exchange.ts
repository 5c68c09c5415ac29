/**
 * One request and its one answer, safe to use at any time. A response of uWebSockets.js is dead after an abort, needs
 * onAborted if it outlives its handler, must be written in a cork, and must not be written to after a failed write.
 */
import type * as uws from 'uWebSockets.js';
import { deferToNextTurn } from '../../clock.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import type { Quota } from '../../fairness/quota.ts';
import type {
  BodyEvents,
  Delivery,
  Exchange,
  HandOver,
  SocketEvents,
  StreamStart,
  Taker,
} from '../engine.ts';
import { EngineSocket } from '../engine-socket.ts';
import { type Answer, type Header, type RequestHead, saysClose, writeHeaders } from '../head.ts';
import type { BodyEnds } from './body-ends.ts';
import type { Counters } from './counters.ts';
import { type HandOvers, Waiting } from './hand-overs.ts';
import { UwsStream } from './stream.ts';

const NOTHING = Buffer.alloc(0);

const TOO_MANY: Answer = { status: '429 Too Many Requests', headers: [['Retry-After', '1']], body: '' };

/** The user data of a socket in uWebSockets.js. */
export interface SocketData {
  readonly socket: EngineSocket;
}

/** For a request that may become a WebSocket. */
export interface Upgrade {
  /** The Sec-WebSocket-Key. */
  readonly key: string;
  readonly context: uws.us_socket_context_t;
}

/** The parts that the exchanges of an engine share. */
export interface ExchangeDeps {
  readonly counters: Counters;
  readonly quota: Quota;
  readonly bodyEnds: BodyEnds;
  readonly handOvers: HandOvers | undefined;
}

export function writeHead(response: uws.HttpResponse, status: string, headers: readonly Header[]): void {
  response.writeStatus(status);
  writeHeaders(headers, (name, value) => response.writeHeader(name, value));
}

/** After an abort its methods do nothing. */
export class UwsExchange implements Exchange {
  readonly head: RequestHead;
  readonly isStream = false;
  address: string;
  readonly #deps: ExchangeDeps;
  #response: uws.HttpResponse | undefined;
  #onClosed: (() => void) | undefined;
  #isAnswered = false;
  #canReadBody = true;
  #isPaused = false;
  #upgrade: Upgrade | undefined;

  constructor(response: uws.HttpResponse, head: RequestHead, deps: ExchangeDeps, upgrade?: Upgrade) {
    this.head = head;
    this.address = head.remoteAddress ?? '';
    this.#upgrade = upgrade;
    this.#response = response;
    this.#deps = deps;
    deps.counters.pending++;
    response.onAborted(() => {
      this.#release();
      this.#onClosed?.();
    });
  }

  #release(): uws.HttpResponse | undefined {
    const response = this.#response;
    this.#response = undefined;
    if (response !== undefined) {
      this.#deps.counters.pending--;
      this.#deps.quota.release(this);
    }
    return response;
  }

  /** Cuts the connection immediately. */
  cut(): void {
    this.#response?.close();
  }

  bufferBody(bytes: number): void {
    if (this.#response !== undefined) this.#deps.quota.set(this, bytes);
  }

  get isOpen(): boolean {
    return this.#response !== undefined && !this.#isAnswered;
  }

  readBody(events: BodyEvents): void {
    if (!this.#canReadBody) throw new Error('a body can be read once, while its request is being handled');
    this.#canReadBody = false;
    this.#onClosed = events.onAborted;
    this.#response?.onData((chunk, isLast) => {
      this.#deps.bodyEnds.reportAll();
      if (chunk.byteLength > 0) events.onChunk(Buffer.from(chunk), false);
      if (isLast) this.#endBody(events);
    });
  }

  /**
   * Reports the end of the body later, if the connection is still there. uWebSockets.js reports it before it parses what
   * follows in the same read, and cuts the connection where that is a trailer, another request, or not HTTP: the request
   * would have been carried out, and its client would get an error. What arrives later waits in the kernel until the
   * answer has been written.
   */
  #endBody(events: BodyEvents): void {
    if (this.#response === undefined) return;
    this.#isPaused = true;
    this.#response.pause();
    this.#deps.bodyEnds.add(() => {
      if (this.#response !== undefined) events.onChunk(NOTHING, true);
    });
  }

  /** Reads from the connection again, from the next turn on. */
  #resume(): void {
    if (this.#isPaused) this.#response?.resume();
    this.#isPaused = false;
  }

  /** Called by the server alone, when the request's handler has returned. */
  markHandled(): void {
    this.#canReadBody = false;
    this.#upgrade = undefined;
  }

  answer(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.#isAnswered = true;
    // In a later turn: while an answer is pending, uWebSockets.js cuts a connection that sends the next request. So at
    // most one answer is kept for a client that does not read, and no bytes behind a last request are served.
    deferToNextTurn(() => this.#send(answer, saysClose(this.head)));
    return true;
  }

  #send(answer: Answer, isAsked: boolean): void {
    this.#resume();
    const { body } = answer;
    const hasBody = this.head.method !== 'HEAD' && body !== undefined && body.length > 0;
    const wasLast = answer.isLast === true || isAsked;
    // After `Connection: close` uWebSockets.js ends the connection itself. Where it does not recognize the form in which
    // the client asks for that, the client does so, or the connection is idle for 10 s.
    if (hasBody && (!wasLast || (isAsked && body.length > QUOTAS.lastAnswer.maxBytes))) {
      this.#sendAsTaken(answer, body);
      return;
    }
    const isLast = wasLast || !this.#deps.counters.bare.take(this.address, performance.now());
    if (isLast && !wasLast && body === undefined) {
      // Without a Content-Length uWebSockets.js does not close the connection.
      this.#send({ ...TOO_MANY, isLast: true }, false);
      return;
    }
    const response = this.#release();
    response?.cork(() => {
      writeHead(response, answer.status, answer.headers);
      if (hasBody) response.end(body, true);
      // A length as an argument would leave the response unfinished, because uWebSockets.js waits for as many bytes, and
      // cut off the next request on this connection. undefined as an argument would be written as 2^63.
      else if (isLast && body !== undefined) response.endWithoutBody(0, true);
      else {
        if (body !== undefined) response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
        response.endWithoutBody();
      }
    });
  }

  /**
   * Sends the body as the peer takes it, from the one copy: with `end` uWebSockets.js would keep a copy of the rest for
   * each peer, and take the next request, whose answer would be kept as well.
   */
  #sendAsTaken(answer: Answer, body: string | Buffer): void {
    const response = this.#response;
    response?.cork(() => {
      writeHead(response, answer.status, answer.headers);
      const length = Buffer.byteLength(body);
      if (response.tryEnd(body, length)[1]) {
        this.#release();
        return;
      }
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
      if (length > QUOTAS.uncounted.maxBytes)
        this.#deps.quota.set(this, 0, { key: bytes.buffer, bytes: length });
      response.onWritable((offset) => {
        const [isTaken, isDone] = response.tryEnd(bytes.subarray(offset), length);
        if (isDone) this.#release();
        return isTaken;
      });
    });
  }

  /**
   * Sends the answer in a later turn, closes, and reports the result: 'sent' when the kernel took every byte, 'closed'
   * when the peer has gone. Reports nothing when bytes were left over, because uWebSockets.js does not either.
   */
  answerAndClose(answer: Answer, onDelivered: (delivery: Delivery) => void): void {
    if (!this.isOpen) {
      onDelivered('closed');
      return;
    }
    this.#isAnswered = true;
    this.#onClosed = () => onDelivered('closed');
    // In a turn of its own: the connection closes within the call if nothing is left over, and no other one can.
    deferToNextTurn(() => {
      if (this.#response === undefined) return;
      const before = this.#deps.counters.closes;
      this.#send({ ...answer, isLast: true }, false);
      if (this.#deps.counters.closes > before) onDelivered('sent');
    });
  }

  get canUpgrade(): boolean {
    return this.#upgrade !== undefined && this.isOpen;
  }

  startSocket(events: SocketEvents, maxKeptBytes?: number): EngineSocket | undefined {
    const upgrade = this.#upgrade;
    const response = upgrade === undefined || this.#isAnswered ? undefined : this.#release();
    if (upgrade === undefined || response === undefined) return undefined;
    this.#upgrade = undefined;
    const socket = new EngineSocket(events, this.address, this.#deps.quota, maxKeptBytes);
    // Calls the server's `open` handler.
    response.upgrade<SocketData>({ socket }, upgrade.key, '', '', upgrade.context);
    return socket;
  }

  handOver(taker: Taker): HandOver | undefined {
    const { handOvers } = this.#deps;
    const response = this.#isAnswered || handOvers === undefined ? undefined : this.#release();
    if (response === undefined || handOvers === undefined) return undefined;
    const waiting = new Waiting(response, {
      take: taker.take.bind(taker),
      onGone: () => taker.onGone(),
      onRefused: () => {
        this.#response = response;
        this.#deps.counters.pending++;
        taker.onRefused();
      },
    });
    // Replaces the handler that would keep this exchange and its headers alive.
    response.onAborted(() => waiting.markGone());
    handOvers.add(waiting);
    return waiting;
  }

  startStream(start: StreamStart): { readonly socket: UwsStream; readonly isWhole: boolean } | undefined {
    const response = this.#isAnswered ? undefined : this.#release();
    if (response === undefined) return undefined;
    const { status, headers, event, onEvent } = start;
    const socket = new UwsStream(response, start);
    // Replaces the handler that would keep this exchange and its headers alive. One function is both handlers.
    const onSocketEvent = onEvent.bind(socket);
    response.onAborted(onSocketEvent);
    response.onWritable(onSocketEvent);
    let isWhole = true;
    response.cork(() => {
      writeHead(response, status, headers);
      isWhole = socket.sendFirst(event);
    });
    return { socket, isWhole };
  }
}
