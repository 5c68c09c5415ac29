/** One connection of node:http: serves its requests one after the other, then ends it so that the answer arrives. */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type net from 'node:net';
import { PLACES, QUOTAS } from '../../fairness/limits.ts';
import type { Quota } from '../../fairness/quota.ts';
import { BadChunk, ChunkedReader } from '../chunked.ts';
import type { EngineSocket } from '../engine-socket.ts';
import type { RequestHead } from '../head.ts';
import { type Line, NodeExchange } from './exchange.ts';
import { faultBytes, OTHER_VERSION } from './head.ts';

/**
 * A peer has this long to close its side after ours. Until then its bytes are read and forgotten, so many at most: closed
 * with bytes unread, the connection would be reset, and the reset may overtake the last answer.
 */
const CLOSING_MS = 2000;

export interface ConnectionOptions {
  readonly quota: Quota;
  readonly readHead: (request: IncomingMessage) => RequestHead;
  readonly onExchange: (exchange: NodeExchange) => void;
  /** Upgrades the connection; false when that is not possible. */
  readonly onSocket: (socket: EngineSocket, request: IncomingMessage, head: Buffer) => boolean;
  /** Serves HTTP on the connection again, after an upgrade was refused. `head`: bytes that came with it. */
  readonly putBack: (socket: net.Socket, head: Buffer) => void;
  /** Requests that are neither answered nor streams yet: more or fewer. */
  readonly count: (change: number) => void;
  /** The native writer has the connection from now on. */
  readonly onHandedOver: (socket: net.Socket) => void;
  /** Calls `act` when it is its turn among the questions that other connections have pipelined. */
  readonly inTurn: (act: () => void) => void;
}

export interface Waiting {
  readonly request: IncomingMessage;
  /** Absent where Node has taken the request out of HTTP: its own is made when its turn has come. */
  readonly response?: ServerResponse;
  /** The bytes that came with the head of a request that may become a WebSocket. */
  readonly upgradeHead?: Buffer | undefined;
  /**
   * The bytes that came with the head of a request with a chunked body. Node's parser would make a Buffer and a call of each
   * chunk, and cannot be stopped within a read of 64 KiB.
   */
  readonly chunkedHead?: Buffer;
}

/** The response to a request that Node has taken out of HTTP. */
function responseTo(request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(request.socket);
  response.on('finish', () => response.detachSocket(request.socket));
  return response;
}

export class Connection implements Line {
  readonly quota: Quota;
  readonly #socket: net.Socket;
  readonly #options: ConnectionOptions;
  readonly #waiting: Waiting[] = [];
  #current: NodeExchange | undefined;
  /** The bytes that came with an upgrade, until it is decided about. */
  #upgradeHead: Buffer | undefined;
  /** No further request is served: a last answer, a stream, or a WebSocket. */
  #isTaken = false;
  /** No further request is parsed: the current one is answered, and the connection ends. */
  isEnding = false;
  /** The reader of the last chunked body. */
  #chunks: ChunkedReader | undefined;
  #onClosed: (() => void) | undefined;
  readonly #onEnd = () => this.#markEnded();
  #forgottenBytes = 0;
  /** Once this side has closed: when the connection is cut, by performance.now(). */
  #cutAtMs = Number.POSITIVE_INFINITY;

  constructor(socket: net.Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.quota = options.quota;
    // node:http calls it after a last answer, and its own would close at that moment.
    socket.destroySoon = () => this.#closeGently();
    socket.on('end', this.#onEnd);
  }

  /** The peer has closed its side. */
  #markEnded(): void {
    if (this.#endAfterCurrent()) return;
    if (this.#chunks?.isDone === false) this.fail('');
    else this.#socket.end();
  }

  /** Where the current request may have begun to act, its answer is the last one: what was done is answered. */
  #endAfterCurrent(): boolean {
    const current = this.#current;
    if (current === undefined || !current.isActing) return false;
    this.isEnding = true;
    this.#waiting.length = 0;
    // Further bytes of the peer wait in the kernel; closing continues to read.
    this.#socket.pause();
    current.markLast();
    return true;
  }

  #closeGently(): void {
    const socket = this.#socket;
    if (socket.writableEnded) return;
    socket.end();
    socket.setTimeout(CLOSING_MS, () => socket.destroy());
    this.#cutAtMs = performance.now() + CLOSING_MS;
    // Past Node's parser, which makes a Buffer of each chunk of a body, 1 µs each.
    socket.removeAllListeners('data');
    socket.on('data', (bytes) => this.#forget(bytes));
    socket.resume();
  }

  #forget(bytes: Buffer): void {
    this.#forgottenBytes += bytes.length;
    if (this.#forgottenBytes > QUOTAS.afterLast.maxBytes || performance.now() > this.#cutAtMs)
      this.#socket.destroy();
  }

  /** A request has arrived. */
  take(waiting: Waiting): void {
    if (this.#current === undefined && this.#waiting.length === 0 && !this.#isTaken) {
      this.#begin(waiting);
      return;
    }
    this.#waiting.push({ ...waiting, upgradeHead: undefined });
    const isFull = this.#waiting.length > PLACES.pipelined.max || this.#onClosed !== undefined;
    if (isFull && !this.#endAfterCurrent()) this.#socket.destroy();
  }

  #begin({ request, response: given, upgradeHead, chunkedHead }: Waiting): void {
    const { httpVersion } = request;
    if (httpVersion !== '1.1' && httpVersion !== '1.0') {
      this.fail(OTHER_VERSION);
      return;
    }
    // RFC 9112, 3.2. The gate, which says the same, lets public paths pass.
    if (httpVersion === '1.1' && request.headers.host === undefined) {
      this.fail('');
      return;
    }
    const head = this.#options.readHead(request);
    const response = given ?? responseTo(request);
    const exchange = new NodeExchange(head, request, response, this, upgradeHead, chunkedHead);
    this.#current = exchange;
    this.#upgradeHead = upgradeHead;
    this.#options.count(1);
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
    this.#options.onExchange(exchange);
    exchange.markHandled();
  }

  #release(): void {
    if (this.#current === undefined) return;
    this.#current = undefined;
    this.#options.count(-1);
  }

  answered(isLast: boolean): void {
    this.#release();
    const upgradeHead = this.#upgradeHead;
    this.#upgradeHead = undefined;
    if (isLast) {
      this.#isTaken = true;
      this.#closeGently();
    } else if (upgradeHead !== undefined) this.#options.putBack(this.#socket, upgradeHead);
    if (this.#isTaken || this.#waiting[0]?.request.method !== 'GET') this.#beginNext();
    else {
      // Others are served in between, and nothing more of this peer is read until all that waits has begun.
      this.#socket.pause();
      this.#options.inTurn(() => this.#beginNext());
    }
  }

  #beginNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined || this.#isTaken || this.#socket.destroyed) return;
    if (this.#waiting.length === 0) this.#socket.resume();
    this.#begin(next);
  }

  readChunked(head: Buffer, onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    const reader = new ChunkedReader({
      onBody: (bytes, start, end) => {
        // Cut with the last piece: the rest of the read, up to 10,000 chunks, is not worked through.
        if (this.#socket.destroyed) throw new BadChunk('the connection was cut');
        onChunk(bytes.subarray(start, end));
      },
    });
    this.#chunks = reader;
    const take = (bytes: Buffer): void => {
      if (reader.isDone) {
        this.#forget(bytes);
        return;
      }
      try {
        reader.push(bytes);
      } catch {
        this.fail('');
        return;
      }
      if (reader.isDone) onEnd();
    };
    this.#socket.on('data', take);
    take(head);
  }

  becomeStream(onClosed: () => void): void {
    this.#isTaken = true;
    this.#onClosed = onClosed;
    this.#release();
    // The fan-out judges it from now on.
    this.#socket.setTimeout(0);
    if (this.#waiting.length > 0) this.#socket.destroy();
  }

  handedOver(): void {
    this.#options.onHandedOver(this.#socket);
  }

  becomeSocket(socket: EngineSocket, request: IncomingMessage, head: Buffer): boolean {
    this.#isTaken = true;
    this.#upgradeHead = undefined;
    this.#release();
    this.#socket.setTimeout(0);
    this.#socket.off('end', this.#onEnd);
    return this.#options.onSocket(socket, request, head);
  }

  /** Refuses bytes that are not a request, unless another request is being answered. */
  fail(code: string): void {
    // Bytes after a request that asks for the end of the connection are ignored (RFC 9112, 9.6).
    if (code === 'HPE_CLOSED_CONNECTION' && this.#current !== undefined) return;
    // After the last answer anything may come.
    if (this.#socket.writableEnded || this.#endAfterCurrent()) return;
    const current = this.#current;
    // Without a byte of a request there is nothing to answer.
    const isMute = this.#socket.bytesRead === 0 || this.#isTaken;
    if (isMute || !this.#socket.writable || (current !== undefined && !current.isOpen)) {
      this.#socket.destroy();
      return;
    }
    this.#isTaken = true;
    current?.markOver();
    this.#release();
    this.#socket.write(faultBytes(code));
    this.#socket.destroySoon();
  }

  /** The socket has closed. */
  markClosed(): void {
    this.#isTaken = true;
    this.#waiting.length = 0;
    this.#current?.markOver();
    this.#release();
    this.#onClosed?.();
  }
}
