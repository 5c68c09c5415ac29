/** One request to an agent on a connection of its own: a stream. */
import type net from 'node:net';
import { type AnswerHead, AnswerParser } from './answer.ts';
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
}

export class AgentRequest {
  readonly #reply: Reply;
  readonly #parser: AnswerParser;
  #socket: net.Socket | undefined;
  #isClosed = false;

  constructor(target: Target, options: RequestOptions, reply: Reply) {
    this.#reply = reply;
    let hasHead = false;
    this.#parser = new AnswerParser({
      onHead: (head) => {
        hasHead = true;
        this.#socket?.setTimeout(options.silenceMs);
        reply.onHead(head);
      },
      onBody: (bytes, start, end) => {
        if (!this.#isClosed) reply.onBody(bytes, start, end);
      },
      onEnd: () => this.#end(undefined),
    });
    const socket = connectTo(target, {
      isWanted: () => !this.#isClosed,
      onReady: () =>
        socket.write(`GET ${options.path} HTTP/1.1\r\n${target.headers}Connection: close\r\n\r\n`),
      onBytes: (bytes) => this.#take(() => this.#parser.push(bytes)),
      onEnd: (failure) => {
        if (failure === undefined) this.#take(() => this.#parser.close());
        else this.#end(failure);
      },
    });
    this.#socket = socket;
    socket.setTimeout(options.headMs);
    socket.on('timeout', () =>
      this.#end({ isRefusal: false, reason: hasHead ? 'it has fallen silent' : 'it does not answer' }),
    );
  }

  /** Ends it without a report. */
  close(): void {
    this.#isClosed = true;
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
