/**
 * One request and its one answer, safe to use at any time. A response of uWebSockets.js is dead after an abort, needs
 * onAborted if it outlives its handler, must be written in a cork, and must not be written to after a failed write.
 */
import type * as uws from 'uWebSockets.js';
import type { AccessRequest } from '../../access/request.ts';
import type { View } from '../../stats/view.ts';
import { Socket, type SocketData, type SocketEvents } from './socket.ts';
import { StreamSocket } from './stream.ts';

/** Headers by lower-case name, each with its values in order of arrival. */
export type HeaderLists = ReadonlyMap<string, readonly string[]>;

export interface RequestHead {
  /** Upper case. */
  readonly method: string;
  /** The raw bytes before `?`, never decoded. */
  readonly path: string;
  /** The raw bytes after `?`; empty without any. */
  readonly query: string;
  readonly headers: HeaderLists;
  /** The peer's address; undefined when its socket is already reset. */
  readonly remoteAddress: string | undefined;
}

export interface Answer {
  readonly status: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** undefined: no body and no Content-Length (204); '' sends Content-Length: 0. */
  readonly body: string | Buffer | undefined;
  /** Closes the connection after the answer. */
  readonly isLast?: boolean;
}

export interface BodyEvents {
  /** Each chunk is valid only during the call. */
  readonly onChunk: (chunk: Buffer, isLast: boolean) => void;
  readonly onAborted: () => void;
}

/** Receives its socket as `this`, so that a stream holds only one bound function beside its socket. */
export type StreamEventHandler = (this: StreamSocket, offset?: number) => boolean;

/** How a stream starts. */
export interface StreamStart {
  readonly status: string;
  readonly headers: Answer['headers'];
  /** The first event's line. */
  readonly line: Buffer;
  readonly view: View;
  readonly caller: AccessRequest;
  readonly sent: number;
  readonly writtenAt: number;
  /** Called with an offset when writing is possible again, without one when the connection has closed. */
  readonly onEvent: StreamEventHandler;
}

type Header = readonly [name: string, value: string];

// uWebSockets.js checks nothing: a line break in a value would begin another header, or another answer.
const SPLITS_ANSWER = /[\0\r\n]/;

/**
 * On every answer, refusals and streams included. A foreign page cannot read an answer without CORS, but where it may
 * embed some answers and not others it learns which one it got: 200 for a running process, 404 for another, 401 where
 * a key is needed.
 */
const DEFENSIVE_HEADERS: readonly Header[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['X-Frame-Options', 'DENY'],
];

function writeHead(response: uws.HttpResponse, status: string, headers: readonly Header[]): void {
  response.writeStatus(status);
  for (const [name, value] of DEFENSIVE_HEADERS) response.writeHeader(name, value);
  for (const [name, value] of headers)
    if (!SPLITS_ANSWER.test(name) && !SPLITS_ANSWER.test(value)) response.writeHeader(name, value);
}

/** Longer bodies that are held anyway (documents, the dashboard, pictures) are not copied for a slow peer. */
const MAX_KEPT_BODY = 8 * 1024;

const CLOSE_OPTION = /(?:^|,)\s*close\s*(?:,|$)/i;

/** The counters of a server. */
export interface Ledger {
  /** Requests that are neither answered nor streams yet. */
  pending: number;
  /** Connections closed so far. */
  closes: number;
  /** Open connections, idle ones included. */
  connections: number;
}

/** For a request that may become a WebSocket. */
export interface Upgrade {
  /** The Sec-WebSocket-Key. */
  readonly key: string;
  readonly context: uws.us_socket_context_t;
}

/** After an abort its methods do nothing. */
export class Exchange {
  readonly head: RequestHead;
  readonly #ledger: Ledger;
  #response: uws.HttpResponse | undefined;
  #onClosed: (() => void) | undefined;
  #isAnswered = false;
  #canReadBody = true;
  #upgrade: Upgrade | undefined;

  constructor(response: uws.HttpResponse, head: RequestHead, ledger: Ledger, upgrade?: Upgrade) {
    this.head = head;
    this.#upgrade = upgrade;
    this.#response = response;
    this.#ledger = ledger;
    ledger.pending++;
    response.onAborted(() => {
      this.#release();
      this.#onClosed?.();
    });
  }

  #release(): uws.HttpResponse | undefined {
    const response = this.#response;
    this.#response = undefined;
    if (response !== undefined) this.#ledger.pending--;
    return response;
  }

  get isOpen(): boolean {
    return this.#response !== undefined && !this.#isAnswered;
  }

  /** Must be called once, while the request is being handled: later its bytes are gone. Throws otherwise. */
  readBody(events: BodyEvents): void {
    if (!this.#canReadBody) throw new Error('a body can be read once, while its request is being handled');
    this.#canReadBody = false;
    this.#onClosed = events.onAborted;
    this.#response?.onData((chunk, isLast) => events.onChunk(Buffer.from(chunk), isLast));
  }

  /** Called by the server alone, when the request's handler has returned. */
  markHandled(): void {
    this.#canReadBody = false;
    this.#upgrade = undefined;
  }

  /** Sends the answer; false when the peer has gone or the request was answered before. */
  answer(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.#isAnswered = true;
    const saysClose = CLOSE_OPTION.test(this.head.headers.get('connection')?.join() ?? '');
    // In a later turn: while an answer is pending, uWebSockets.js cuts a connection that sends the next request. So at
    // most one answer is kept for a client that does not read, and no bytes behind a last request are served.
    setImmediate(() => this.#send(answer, saysClose));
    return true;
  }

  #send(answer: Answer, saysClose: boolean): void {
    const isLast = answer.isLast === true || saysClose;
    const { body } = answer;
    if (!isLast && this.head.method !== 'HEAD' && Buffer.isBuffer(body) && body.length > MAX_KEPT_BODY) {
      this.#sendShared(answer, body);
      return;
    }
    const response = this.#release();
    response?.cork(() => {
      writeHead(response, answer.status, answer.headers);
      if (this.head.method !== 'HEAD' && answer.body !== undefined) response.end(answer.body, isLast);
      // A length as an argument would leave the response unfinished, because uWebSockets.js waits for as many bytes, and
      // cut off the next request on this connection. undefined as an argument would be written as 2^63.
      else if (isLast && answer.body !== undefined) response.endWithoutBody(0, true);
      else {
        if (answer.body !== undefined)
          response.writeHeader('Content-Length', String(Buffer.byteLength(answer.body)));
        response.endWithoutBody();
      }
    });
  }

  /** Sends a long body piece by piece, as the peer takes it: uWebSockets.js would keep a copy of the rest for each peer. */
  #sendShared(answer: Answer, body: Buffer): void {
    const response = this.#response;
    response?.cork(() => {
      writeHead(response, answer.status, answer.headers);
      const sendFrom = (offset: number): boolean => {
        const [isTaken, isDone] = response.tryEnd(body.subarray(offset), body.length);
        if (isDone) this.#release();
        return isTaken;
      };
      if (!sendFrom(0)) response.onWritable(sendFrom);
    });
  }

  /**
   * Sends the answer in a later turn, closes, and reports the result: 'sent' when the kernel took every byte, 'closed'
   * when the peer has gone. Reports nothing when bytes were left over, because uWebSockets.js does not either.
   */
  answerAndClose(answer: Answer, onDelivered: (delivery: 'sent' | 'closed') => void): void {
    if (!this.isOpen) {
      onDelivered('closed');
      return;
    }
    this.#isAnswered = true;
    this.#onClosed = () => onDelivered('closed');
    // In a turn of its own: the connection closes within the call if nothing is left over, and no other one can.
    setImmediate(() => {
      if (this.#response === undefined) return;
      const before = this.#ledger.closes;
      this.#send({ ...answer, isLast: true }, false);
      if (this.#ledger.closes > before) onDelivered('sent');
    });
  }

  /** Whether `startSocket` can upgrade it: it came with a key, and is still being handled. */
  get canUpgrade(): boolean {
    return this.#upgrade !== undefined && this.isOpen;
  }

  /** Upgrades to a WebSocket, without subprotocol and extensions. undefined when it cannot be upgraded. */
  startSocket(events: SocketEvents): Socket | undefined {
    const upgrade = this.#upgrade;
    const response = upgrade === undefined || this.#isAnswered ? undefined : this.#release();
    if (upgrade === undefined || response === undefined) return undefined;
    this.#upgrade = undefined;
    const socket = new Socket(events);
    // Calls the server's `open` handler.
    response.upgrade<SocketData>({ socket }, upgrade.key, '', '', upgrade.context);
    return socket;
  }

  /**
   * Answers with headers and a first event, and keeps the connection as a stream. `isWhole` false: the event was long,
   * and the socket must `goOn` in a later turn. undefined when the peer has gone.
   */
  startStream(start: StreamStart): { readonly socket: StreamSocket; readonly isWhole: boolean } | undefined {
    const response = this.#isAnswered ? undefined : this.#release();
    if (response === undefined) return undefined;
    const { status, headers, line, onEvent } = start;
    const socket = new StreamSocket(response, start.view, start.caller, start.sent, start.writtenAt);
    // Replaces the handler that would keep this exchange and its headers alive. One function is both handlers.
    const onSocketEvent = onEvent.bind(socket);
    response.onAborted(onSocketEvent);
    response.onWritable(onSocketEvent);
    let isWhole = true;
    response.cork(() => {
      writeHead(response, status, headers);
      isWhole = socket.sendFirst(line);
    });
    return { socket, isWhole };
  }
}
