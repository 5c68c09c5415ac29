/** A connection to an agent that is kept: it carries one request at a time, and is free again after a whole answer. */
import type net from 'node:net';
import { PieceBuffer } from '../../piece-buffer.ts';
import { type AnswerHead, AnswerParser, BadAnswer } from './answer.ts';
import { AgentPace } from './pace.ts';
import { connectTo, type Failure, failureOf } from './socket.ts';
import type { Target } from './target.ts';

export interface SentRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly path: string;
  /** Those beside the target's, with a CRLF after each, as it is sent; undefined: it is too late to send it. */
  readonly headers?: () => string | undefined;
  readonly body?: Buffer;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

export interface Lost extends Failure {
  /** A byte of the request may have left. */
  readonly isSent: boolean;
  /** A byte of an answer came. */
  readonly isAnswered: boolean;
}

interface Exchange {
  readonly request: SentRequest;
  readonly done: (found: WholeAnswer | Lost) => void;
  readonly body: PieceBuffer;
  readonly pace: AgentPace;
  parser: AnswerParser | undefined;
  head: AnswerHead | undefined;
  isSent: boolean;
  isAnswered: boolean;
}

const MAX_BYTES = 4 * 2 ** 20;
const LATE: Failure = { isRefusal: false, reason: 'it does not answer' };
const CLOSED: Failure = { isRefusal: false, reason: 'the connection was closed' };

export const isLost = (found: WholeAnswer | Lost): found is Lost => 'reason' in found;

export class AgentConnection {
  readonly #target: Target;
  readonly #now: () => number;
  readonly #onIdleEnd: (connection: AgentConnection) => void;
  #socket: net.Socket | undefined;
  #isReady = false;
  #isEnded = false;
  #exchange: Exchange | undefined;
  /** Of the last whole answer, in milliseconds of the hub's clock. */
  answeredAtMs = Number.NEGATIVE_INFINITY;

  /** `onIdleEnd`: it was closed while it carried nothing. */
  constructor(target: Target, now: () => number, onIdleEnd: (connection: AgentConnection) => void) {
    this.#target = target;
    this.#now = now;
    this.#onIdleEnd = onIdleEnd;
  }

  /** It is open, and carries nothing. */
  get isFree(): boolean {
    return this.#isReady && !this.#isEnded && this.#exchange === undefined;
  }

  /** Sends a request, once; `done` is called once, later, unless `close` comes first. */
  send(request: SentRequest, done: Exchange['done']): void {
    this.#exchange = {
      request,
      done,
      body: new PieceBuffer(),
      pace: new AgentPace(this.#now),
      parser: undefined,
      head: undefined,
      isSent: false,
      isAnswered: false,
    };
    if (this.#isReady) this.#write();
    else
      this.#socket ??= connectTo(this.#target, {
        isWanted: () => !this.#isEnded,
        onReady: () => {
          this.#isReady = true;
          this.#write();
        },
        onBytes: (bytes) => this.#take(bytes),
        onEnd: (failure) => this.#ended(failure),
      });
  }

  /** Ends it, and what it carries with this failure; without one nothing is reported. */
  close(failure?: Failure): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#socket?.destroy();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (failure === undefined || exchange === undefined) return;
    const { isSent, isAnswered, done } = exchange;
    done({ ...failure, isSent, isAnswered });
  }

  #write(): void {
    const exchange = this.#exchange;
    if (exchange === undefined || this.#isEnded) return;
    const { method, path, body } = exchange.request;
    const headers = exchange.request.headers === undefined ? '' : exchange.request.headers();
    if (headers === undefined) {
      this.close(LATE);
      return;
    }
    const length = method === 'POST' ? `Content-Length: ${body?.length ?? 0}\r\n` : '';
    exchange.isSent = true;
    const head = Buffer.from(
      `${method} ${path} HTTP/1.1\r\n${this.#target.headers}${headers}${length}\r\n`,
      'latin1',
    );
    // One write: a proxy sees the whole request at once.
    this.#socket?.write(body === undefined ? head : Buffer.concat([head, body]));
  }

  #parserOf(exchange: Exchange): AnswerParser {
    exchange.parser ??= new AnswerParser(
      {
        onHead: (head) => {
          exchange.head = head;
        },
        onBody: (bytes, start, end) => {
          exchange.pace.takePiece();
          if (exchange.body.length + end - start > MAX_BYTES) throw new BadAnswer('its answer is too long');
          exchange.body.add(bytes, start, end);
        },
        onEnd: () => undefined,
      },
      exchange.request.method !== 'HEAD',
    );
    return exchange.parser;
  }

  #take(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody has asked for anything.
    if (exchange === undefined) {
      this.#ended(undefined);
      return;
    }
    exchange.isAnswered = true;
    const parser = this.#parserOf(exchange);
    try {
      exchange.pace.takePiece(bytes.length);
      parser.push(bytes);
    } catch (error) {
      this.close(failureOf(error));
      return;
    }
    if (parser.isDone) this.#finish(exchange);
  }

  #finish(exchange: Exchange): void {
    const { head, body, done } = exchange;
    if (head === undefined) return;
    this.#exchange = undefined;
    this.answeredAtMs = this.#now();
    if (/(?:^|,)\s*close\s*(?:,|$)/i.test(head.headers.get('connection') ?? '')) this.close();
    done({ ...head, bytes: body.take() });
  }

  #ended(failure: Failure | undefined): void {
    if (this.#isEnded) return;
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.close();
      this.#onIdleEnd(this);
      return;
    }
    if (failure !== undefined || !exchange.isAnswered) {
      this.close(failure ?? CLOSED);
      return;
    }
    try {
      // An answer without a length ends with its connection.
      this.#parserOf(exchange).close();
    } catch (error) {
      this.close(failureOf(error));
      return;
    }
    this.close();
    if (exchange.head !== undefined) exchange.done({ ...exchange.head, bytes: exchange.body.take() });
  }
}
