/** One request to an agent on a connection of its own: a stream. */
import type net from 'node:net';
import { type AnswerHead, AnswerParser } from './answer.ts';
import type { AgentPace } from './pace.ts';
import { connectTo, type Failure, failureOf } from './socket.ts';
import type { Target } from './target.ts';

export interface Reply {
  /** May throw, as `onBody`: that ends the request. */
  onHead(head: AnswerHead): void;
  /** As in AnswerSink. */
  onBody(bytes: Buffer, start: number, end: number): void;
  /** Called once; without a failure the answer is complete. */
  onEnd(failure: Failure | undefined): void;
}

export interface RequestOptions {
  readonly path: string;
  /** Time for the connection and the head of the answer, and the longest silence after it. */
  readonly headMs: number;
  readonly silenceMs: number;
  readonly pace: Pick<AgentPace, 'takePiece'>;
}

const LATE: Failure = { isRefusal: false, reason: 'it does not answer' };
const SILENT: Failure = { isRefusal: false, reason: 'it has fallen silent' };

export class AgentRequest {
  readonly #reply: Reply;
  readonly #parser: AnswerParser;
  #socket: net.Socket | undefined;
  /** Ends a connection whose head is late, however often a byte of it comes. */
  #headTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(target: Target, options: RequestOptions, reply: Reply) {
    this.#reply = reply;
    const { path, headMs, silenceMs, pace } = options;
    let hasHead = false;
    this.#parser = new AnswerParser({
      onHead: (head) => {
        hasHead = true;
        clearTimeout(this.#headTimer);
        this.#socket?.setTimeout(silenceMs);
        reply.onHead(head);
      },
      onBody: (bytes, start, end) => {
        if (this.#isClosed) return;
        pace.takePiece();
        reply.onBody(bytes, start, end);
      },
      onEnd: () => this.#end(undefined),
    });
    const socket = connectTo(target, {
      isWanted: () => !this.#isClosed,
      onReady: () => {
        this.#headTimer = setTimeout(() => this.#end(LATE), headMs);
        socket.write(`GET ${path} HTTP/1.1\r\n${target.headers}Connection: close\r\n\r\n`);
      },
      onBytes: (bytes) =>
        this.#take(() => {
          pace.takePiece(bytes.length);
          this.#parser.push(bytes);
        }),
      onEnd: (failure) => {
        if (failure === undefined) this.#take(() => this.#parser.close());
        else this.#end(failure);
      },
    });
    this.#socket = socket;
    socket.setTimeout(headMs);
    socket.on('timeout', () => this.#end(hasHead ? SILENT : LATE));
  }

  /** Ends it without a report. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#headTimer);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #take(parse: () => void): void {
    if (this.#isClosed) return;
    try {
      parse();
    } catch (error) {
      this.#end(failureOf(error));
    }
  }

  #end(failure: Failure | undefined): void {
    if (this.#isClosed) return;
    this.close();
    this.#reply.onEnd(failure);
  }
}
