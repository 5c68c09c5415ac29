/**
 * The only file that knows uWebSockets.js and its hazards: a request or response object is dead after its handler or
 * an abort, a response that outlives its handler needs onAborted, writes belong in a cork, a failed write must not
 * be followed by another. What it hands out, an Exchange or a StreamSocket, can't be misused in these ways.
 */
import * as uws from 'uWebSockets.js';

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

const END_OF_EVENT = Buffer.from('\n');
const SILENCE = Buffer.from(':\n\n');

// One cork callback for all sockets, with what it needs in variables: no closure a subscriber a tick.
let corkedResponse: uws.HttpResponse;
let corkedLine: Buffer;
let corkedResult = true;
function writeCorked(): void {
  // Two chunks: a client that holds a chunk back until the next one begins still sees the whole line at once.
  corkedResponse.write(corkedLine);
  corkedResult = corkedResponse.write(END_OF_EVENT);
}

/** A stream that was answered with its headers and stays open. Its owner keeps what it wants in `owner`. */
export class StreamSocket<Owner> {
  readonly owner: Owner;
  #response: uws.HttpResponse | undefined;
  /** A write did not fit: nothing may be written until onDrained. */
  isFull = false;

  constructor(response: uws.HttpResponse, owner: Owner) {
    this.#response = response;
    this.owner = owner;
  }

  get isOpen(): boolean {
    return this.#response !== undefined;
  }

  /** Sends one event's line (`data: …\n`) and the blank line after it. Nothing is sent while full or closed. */
  send(line: Buffer): void {
    if (this.#response === undefined || this.isFull) return;
    corkedResponse = this.#response;
    corkedLine = line;
    corkedResponse.cork(writeCorked);
    if (!corkedResult) this.isFull = true;
  }

  /** A comment, so that the connection is not silent. */
  sendComment(): void {
    const response = this.#response;
    if (response === undefined || this.isFull) return;
    response.cork(() => {
      if (!response.write(SILENCE)) this.isFull = true;
    });
  }

  /** Ends the stream; after the events already sent, on a frame boundary. */
  end(): void {
    const response = this.#response;
    this.#response = undefined;
    // Not with closeConnection: its header line would be written into the body.
    response?.cork(() => response.end());
  }

  /** Cuts the connection at once. */
  cut(): void {
    const response = this.#response;
    this.#response = undefined;
    response?.close();
  }

  /** Called by the server alone, when the connection has closed. */
  markClosed(): void {
    this.#response = undefined;
  }
}

export interface StreamEvents<Owner> {
  /** The kernel took what had been left over: writing is possible again. */
  readonly onDrained: (socket: StreamSocket<Owner>) => void;
  readonly onClosed: (socket: StreamSocket<Owner>) => void;
}

type Header = readonly [name: string, value: string];

// uWebSockets.js writes what it is given: a line break in a value would begin a header, or an answer, of its own.
const SPLITS_ANSWER = /[\0\r\n]/;

function writeHead(response: uws.HttpResponse, status: string, headers: readonly Header[]): void {
  response.writeStatus(status);
  for (const [name, value] of headers)
    if (!SPLITS_ANSWER.test(name) && !SPLITS_ANSWER.test(value)) response.writeHeader(name, value);
}

const CLOSE_OPTION = /(?:^|,)\s*close\s*(?:,|$)/i;

/** One request and its one answer. Every method is safe at any time: after an abort they do nothing. */
export class Exchange {
  readonly head: RequestHead;
  /** How many connections of the server have closed so far. */
  readonly #closes: () => number;
  #response: uws.HttpResponse | undefined;
  #onClosed: (() => void) | undefined;
  #isAnswered = false;
  #canReadBody = true;

  constructor(response: uws.HttpResponse, head: RequestHead, closes: () => number) {
    this.head = head;
    this.#response = response;
    this.#closes = closes;
    response.onAborted(() => {
      this.#response = undefined;
      this.#onClosed?.();
    });
  }

  get isOpen(): boolean {
    return this.#response !== undefined && !this.#isAnswered;
  }

  /** Once, and while the request is being handled: body bytes that nobody waits for are gone. Throws else. */
  readBody(events: BodyEvents): void {
    if (!this.#canReadBody) throw new Error('a body can be read once, while its request is being handled');
    this.#canReadBody = false;
    this.#onClosed = events.onAborted;
    this.#response?.onData((chunk, isLast) => events.onChunk(Buffer.from(chunk), isLast));
  }

  /** Called by the server alone, when the request's handler has returned. */
  markHandled(): void {
    this.#canReadBody = false;
  }

  /** Sends the answer; false when the peer has gone or an answer was given before. */
  answer(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.#isAnswered = true;
    const saysClose = CLOSE_OPTION.test(this.head.headers.get('connection')?.join() ?? '');
    // Later: bytes that arrived behind this request would be served as the next one if it were answered by now, for
    // uWebSockets.js closes after it has parsed all it has. While an answer is pending it cuts the connection instead.
    if (saysClose || answer.isLast === true) setImmediate(() => this.#send(answer, saysClose));
    else this.#send(answer, false);
    return true;
  }

  #send(answer: Answer, saysClose: boolean): void {
    const response = this.#response;
    this.#response = undefined;
    const isLast = answer.isLast === true || saysClose;
    response?.cork(() => {
      writeHead(response, answer.status, answer.headers);
      if (this.head.method !== 'HEAD' && answer.body !== undefined) response.end(answer.body, isLast);
      // A length as an argument would leave the response unfinished, and the next request on this connection cut off:
      // uWebSockets.js waits for as many bytes. undefined as an argument would be written as 2^63.
      else if (isLast && answer.body !== undefined) response.endWithoutBody(0, true);
      else {
        if (answer.body !== undefined)
          response.writeHeader('Content-Length', String(Buffer.byteLength(answer.body)));
        response.endWithoutBody();
      }
    });
  }

  /**
   * Sends the answer in a later turn, closes, and tells how that went: 'sent' when the kernel took every byte,
   * 'closed' when the peer has gone. Nothing when bytes were left over: of those uWebSockets.js says no more.
   */
  answerAndClose(answer: Answer, onDelivered: (delivery: 'sent' | 'closed') => void): void {
    if (!this.isOpen) {
      onDelivered('closed');
      return;
    }
    this.#isAnswered = true;
    this.#onClosed = () => onDelivered('closed');
    // In a turn of its own the connection closes within the call if nothing is left over, and no other one can.
    setImmediate(() => {
      if (this.#response === undefined) return;
      const before = this.#closes();
      this.#send({ ...answer, isLast: true }, false);
      if (this.#closes() > before) onDelivered('sent');
    });
  }

  /** Answers with headers and a first event, and keeps the connection as a stream. undefined when the peer has gone. */
  startStream<Owner>(
    answer: Omit<Answer, 'body' | 'isLast'>,
    firstLine: Buffer,
    owner: Owner,
    events: StreamEvents<Owner>,
  ): StreamSocket<Owner> | undefined {
    const response = this.#response;
    if (response === undefined || this.#isAnswered) return undefined;
    this.#response = undefined;
    const socket = new StreamSocket(response, owner);
    // Replaces the handler that would keep this exchange and its headers alive. One function is both handlers, told
    // apart by the offset that only onWritable passes: it is all that a stream holds beside its socket.
    const onSocketEvent = (offset?: number): boolean => {
      if (offset === undefined) {
        socket.markClosed();
        events.onClosed(socket);
      } else {
        socket.isFull = false;
        events.onDrained(socket);
      }
      return true;
    };
    response.onAborted(onSocketEvent);
    response.onWritable(onSocketEvent);
    response.cork(() => {
      writeHead(response, answer.status, answer.headers);
      response.write(firstLine);
      response.write(END_OF_EVENT);
    });
    return socket;
  }
}

export interface ServerOptions {
  /** The lower-case names of the headers that anything looks at; others are not read. */
  readonly headersRead: ReadonlySet<string>;
  readonly onRequest: (exchange: Exchange) => void;
}

function readHead(
  response: uws.HttpResponse,
  request: uws.HttpRequest,
  wanted: ReadonlySet<string>,
): RequestHead {
  const headers = new Map<string, string[]>();
  request.forEach((name, value) => {
    if (!wanted.has(name)) return;
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  });
  const address = Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    remoteAddress: address === '' ? undefined : address,
  };
}

/** Why a port could not be listened on. */
export class ListenError extends Error {
  constructor(host: string, port: number) {
    super(`port ${port} on ${host} can't be listened on: it is in use, or not allowed to this user`);
    this.name = 'ListenError';
  }
}

// The flag of uSockets that leaves out SO_REUSEPORT: a second instance must fail, not share the port.
const LISTEN_EXCLUSIVE = 1;

export class HttpServer {
  readonly #app: uws.TemplatedApp;
  #listening: uws.us_listen_socket | undefined;
  #connections = 0;
  #closes = 0;

  constructor(options: ServerOptions) {
    this.#app = uws
      .App()
      .filter((_response, change) => {
        this.#connections += change;
        if (change < 0) this.#closes++;
      })
      // A route that matches nothing would close the socket without an answer: all of them end here.
      .any('/*', (response, request) => {
        const head = readHead(response, request, options.headersRead);
        const exchange = new Exchange(response, head, () => this.#closes);
        options.onRequest(exchange);
        exchange.markHandled();
      });
  }

  /** Open connections, idle ones included. */
  get connections(): number {
    return this.#connections;
  }

  /** Listens on `host` and `port` (0: a free one) and returns the port. Throws ListenError. */
  listen(host: string, port: number): number {
    // The typings lack this overload; the binding reads (host, port, options, callback).
    const listen = this.#app.listen.bind(this.#app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: uws.us_listen_socket | false) => void,
    ) => void;
    listen(host, port, LISTEN_EXCLUSIVE, (socket) => {
      this.#listening = socket === false ? undefined : socket;
    });
    if (this.#listening === undefined) throw new ListenError(host, port);
    return uws.us_socket_local_port(this.#listening);
  }

  /** Takes no more connections; the open ones go on. */
  stopListening(): void {
    if (this.#listening !== undefined) uws.us_listen_socket_close(this.#listening);
    this.#listening = undefined;
  }

  /** Closes every connection at once. */
  close(): void {
    this.stopListening();
    this.#app.close();
  }
}
