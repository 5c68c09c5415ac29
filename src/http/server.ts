/**
 * The only file that knows uWebSockets.js and its hazards: a request or response object is dead after its handler or
 * an abort, a response that outlives its handler needs onAborted, writes belong in a cork, a failed write must not
 * be followed by another. What it hands out, an Exchange or a StreamSocket, can't be misused in these ways.
 */
import * as uws from 'uWebSockets.js';
import type { View } from '../stats/view.ts';
import { StreamSocket } from './stream-socket.ts';

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

/** Gets its socket as `this`, so that a stream holds nothing but one bound function beside its socket. */
export type StreamEventHandler = (this: StreamSocket, offset?: number) => boolean;

/** What a stream begins with. */
export interface StreamStart {
  readonly status: string;
  readonly headers: Answer['headers'];
  /** The first event's line. */
  readonly line: Buffer;
  readonly view: View;
  readonly client: unknown;
  readonly sent: number;
  readonly writtenAt: number;
  /** Called with an offset when writing is possible again, without one when the connection has closed. */
  readonly onEvent: StreamEventHandler;
}

/** One request and its one answer. Every method is safe at any time: after an abort they do nothing. */
export class Exchange {
  readonly head: RequestHead;
  #response: uws.HttpResponse | undefined;
  #onClosed: (() => void) | undefined;

  constructor(response: uws.HttpResponse, head: RequestHead) {
    this.head = head;
    this.#response = response;
    response.onAborted(() => {
      this.#response = undefined;
      this.#onClosed?.();
    });
  }

  get isOpen(): boolean {
    return this.#response !== undefined;
  }

  /** Must be called while the request is being handled: body bytes that nobody waits for are gone. */
  readBody(events: BodyEvents): void {
    this.#onClosed = events.onAborted;
    this.#response?.onData((chunk, isLast) => events.onChunk(Buffer.from(chunk), isLast));
  }

  /** Sends the answer; false when the peer has gone or an answer was sent before. */
  answer(answer: Answer): boolean {
    const response = this.#response;
    if (response === undefined) return false;
    this.#response = undefined;
    response.cork(() => {
      response.writeStatus(answer.status);
      for (const [name, value] of answer.headers) response.writeHeader(name, value);
      const isLast = answer.isLast === true;
      // Without arguments no Content-Length is written; undefined as an argument would be written as 2^63.
      if (answer.body === undefined) response.endWithoutBody();
      else if (this.head.method === 'HEAD') response.endWithoutBody(Buffer.byteLength(answer.body), isLast);
      else response.end(answer.body, isLast);
    });
    return true;
  }

  /**
   * Answers with headers and a first event, and keeps the connection as a stream. Not `isWhole`: the event was long, and
   * the socket must `goOn` in a later turn. undefined when the peer has gone.
   */
  startStream(start: StreamStart): { readonly socket: StreamSocket; readonly isWhole: boolean } | undefined {
    const response = this.#response;
    if (response === undefined) return undefined;
    this.#response = undefined;
    const { status, headers, line, onEvent } = start;
    const socket = new StreamSocket(response, start.view, start.client, start.sent, start.writtenAt);
    // Replaces the handler that would keep this exchange and its headers alive. One function is both handlers.
    const onSocketEvent = onEvent.bind(socket);
    response.onAborted(onSocketEvent);
    response.onWritable(onSocketEvent);
    let isWhole = true;
    response.cork(() => {
      response.writeStatus(status);
      for (const [name, value] of headers) response.writeHeader(name, value);
      isWhole = socket.sendFirst(line);
    });
    return { socket, isWhole };
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

  constructor(options: ServerOptions) {
    this.#app = uws
      .App()
      .filter((_response, change) => {
        this.#connections += change;
      })
      // A route that matches nothing would close the socket without an answer: all of them end here.
      .any('/*', (response, request) => {
        options.onRequest(new Exchange(response, readHead(response, request, options.headersRead)));
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
