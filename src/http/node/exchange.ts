/** One request of node:http and its one answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
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
import { type Answer, flatHeaders, headBytes, type RequestHead, saysClose } from '../head.ts';
import { asksForUpgrade, hasBody } from './head.ts';
import { descriptorOf, NodeStream, whenEmpty } from './stream.ts';

/** The connection of an exchange, as far as it decides about it. */
export interface Line {
  readonly quota: Quota;
  /** It is a stream from now on; `onClosed` is called when it has closed. */
  becomeStream(onClosed: () => void): void;
  /** The native writer has the connection, and counts it: Node reports the end of its own descriptor later. */
  handedOver(): void;
  /** Upgrades it for `socket`, with the bytes that came with the request; false when it was refused. */
  becomeSocket(socket: EngineSocket, request: IncomingMessage, head: Buffer): boolean;
  /** Reads the chunked body of the request, of which `head` has arrived. */
  readChunked(head: Buffer, onChunk: (chunk: Buffer) => void, onEnd: () => void): void;
  /** The answer has left; `isLast`: nothing more is served. */
  answered(isLast: boolean): void;
}

/** A peer that takes nothing of an answer for this long is cut. */
const UNREAD_LIMIT_MS = 20_000;
const NOTHING = Buffer.alloc(0);

export class NodeExchange implements Exchange {
  readonly head: RequestHead;
  readonly isStream = false;
  address: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #line: Line;
  readonly #upgradeHead: Buffer | undefined;
  readonly #chunkedHead: Buffer | undefined;
  #isAnswered = false;
  #isOver = false;
  #isBeingHandled = true;
  #hasBody = false;
  /** The end of its body was reported. */
  #isWhole = false;
  #endsConnection = false;
  #onClosed: (() => void) | undefined;

  constructor(
    head: RequestHead,
    request: IncomingMessage,
    response: ServerResponse,
    line: Line,
    upgradeHead?: Buffer,
    chunkedHead?: Buffer,
  ) {
    this.head = head;
    this.address = head.remoteAddress ?? '';
    this.#request = request;
    this.#response = response;
    this.#line = line;
    this.#upgradeHead = upgradeHead;
    this.#chunkedHead = chunkedHead;
  }

  get isOpen(): boolean {
    return !this.#isOver && !this.#isAnswered;
  }

  get canUpgrade(): boolean {
    // With a body it cannot, which its route says better than 'no upgrade'.
    const isUpgrade =
      this.#upgradeHead !== undefined || (hasBody(this.#request) && asksForUpgrade(this.#request));
    return isUpgrade && this.#isBeingHandled && this.isOpen;
  }

  /** Called by the connection alone, when the request's handler has returned. */
  markHandled(): void {
    this.#isBeingHandled = false;
  }

  /** Its body was reported as whole, so that a command may have begun, and its answer has not left. */
  get isActing(): boolean {
    return this.#isWhole && !this.#isOver;
  }

  /** Called by the connection alone: its answer is the last one. */
  markLast(): void {
    this.#endsConnection = true;
  }

  /** Called by the connection alone, when it has closed or its answer has left. */
  markOver(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line.quota.release(this);
    this.#onClosed?.();
  }

  cut(): void {
    if (!this.#isOver) this.#request.socket.destroy();
  }

  bufferBody(bytes: number): void {
    if (!this.#isOver) this.#line.quota.set(this, bytes);
  }

  readBody(events: BodyEvents): void {
    if (this.#hasBody || !this.#isBeingHandled)
      throw new Error('a body can be read once, while its request is being handled');
    this.#hasBody = true;
    this.#onClosed = events.onAborted;
    if (this.#isOver) return;
    const onChunk = (chunk: Buffer): void => {
      // Node's parser continues with the bytes that it has read of a connection that was cut.
      if (!this.#request.socket.destroyed) events.onChunk(chunk, false);
    };
    const onEnd = (): void => {
      this.#isWhole = true;
      events.onChunk(NOTHING, true);
    };
    if (this.#chunkedHead !== undefined) this.#line.readChunked(this.#chunkedHead, onChunk, onEnd);
    else this.#request.on('data', onChunk).on('end', onEnd);
  }

  answer(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.#isAnswered = true;
    this.#send(answer);
    return true;
  }

  answerAndClose(answer: Answer, onDelivered: (delivery: Delivery) => void): void {
    if (!this.isOpen) {
      onDelivered('closed');
      return;
    }
    this.#isAnswered = true;
    this.#onClosed = () => onDelivered('closed');
    this.#send({ ...answer, isLast: true }, () => {
      this.#onClosed = undefined;
      onDelivered('sent');
    });
  }

  #send({ status, headers, body, isLast = false }: Answer, onSent?: () => void): void {
    const { socket } = this.#request;
    const response = this.#response;
    const isEnd = isLast || this.#endsConnection || saysClose(this.head) || !response.shouldKeepAlive;
    const flat = flatHeaders(headers);
    if (body !== undefined) flat.push('Content-Length', String(Buffer.byteLength(body)));
    // Persistent by default in HTTP/1.1; in HTTP/1.0 only when it is agreed on.
    if (headers.some(([name]) => name.toLowerCase() === 'connection')) response.removeHeader('Connection');
    else if (isEnd) flat.push('Connection', 'close');
    else if (this.#request.httpVersion === '1.0') flat.push('Connection', 'keep-alive');
    else response.removeHeader('Connection');
    // The kernel has every byte.
    response.on('finish', () => {
      onSent?.();
      this.#onClosed = undefined;
      this.markOver();
      this.#line.answered(isEnd || this.#endsConnection);
    });
    const [code = '', ...reason] = status.split(' ');
    response.writeHead(Number(code), reason.join(' '), flat);
    // node:http keeps no copy of a shared body.
    response.end(typeof body === 'string' ? Buffer.from(body) : body);
    if (this.#isOver || socket.writableLength === 0) return;
    socket.setTimeout(UNREAD_LIMIT_MS);
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    if (length <= QUOTAS.uncounted.maxBytes) return;
    if (Buffer.isBuffer(body)) this.#line.quota.set(this, 0, { key: body.buffer, bytes: length });
    else this.#line.quota.set(this, length);
  }

  startSocket(events: SocketEvents, maxKeptBytes?: number): EngineSocket | undefined {
    const head = this.#upgradeHead;
    if (head === undefined || !this.canUpgrade) return undefined;
    this.#isAnswered = true;
    this.markOver();
    this.#response.detachSocket(this.#request.socket);
    const socket = new EngineSocket(events, this.address, this.#line.quota, maxKeptBytes);
    return this.#line.becomeSocket(socket, this.#request, head) ? socket : undefined;
  }

  handOver(taker: Taker): HandOver | undefined {
    const { socket, httpVersion } = this.#request;
    if (!this.isOpen || descriptorOf(socket) === undefined) return undefined;
    this.#isAnswered = true;
    let isTaken = false;
    this.#line.becomeStream(() => {
      if (!isTaken) taker.onGone();
    });
    this.#onClosed = undefined;
    this.markOver();
    const give = (): void => {
      const descriptor = descriptorOf(socket);
      if (socket.destroyed || descriptor === undefined) return;
      // Earlier answers on the connection that the kernel has not taken yet.
      if (whenEmpty(socket, give)) return;
      try {
        taker.take(descriptor, httpVersion === '1.0' ? 'plain' : 'chunked');
        isTaken = true;
        this.#line.handedOver();
      } catch {
        // No descriptor is left, or the service ends: closing it reports that it has gone.
      }
      // Closes Node's own descriptor, without a shutdown.
      socket.destroy();
    };
    give();
    return { cut: () => void socket.destroy() };
  }

  startStream(start: StreamStart): { readonly socket: NodeStream; readonly isWhole: boolean } | undefined {
    if (!this.isOpen) return undefined;
    this.#isAnswered = true;
    const isChunked = this.#request.httpVersion !== '1.0';
    const socket = new NodeStream(this.#request.socket, isChunked, start);
    const onEvent = start.onEvent.bind(socket);
    socket.onDrained = () => void onEvent(0);
    this.#line.becomeStream(onEvent);
    this.#onClosed = undefined;
    this.markOver();
    const framing = isChunked
      ? (['Transfer-Encoding', 'chunked'] as const)
      : (['Connection', 'close'] as const);
    socket.sendFirst(headBytes(start.status, [...start.headers, framing]), start.event);
    // A body that came along is read and forgotten.
    this.#request.resume();
    return { socket, isWhole: true };
  }
}
