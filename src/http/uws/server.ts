/**
 * The only file that loads uWebSockets.js: connections, requests and upgrades come in here, and leave as an Exchange or a
 * Socket, which know the hazards of what they wrap (a request object is dead after its handler).
 */
import * as uws from 'uWebSockets.js';
import { Exchange, type Ledger, type RequestHead, type Upgrade } from './exchange.ts';
import { FULL_BYTES, type SocketData } from './socket.ts';

export interface ServerOptions {
  /** The lower-case names of the headers that anything looks at; others are not read. */
  readonly headersRead: ReadonlySet<string>;
  readonly onRequest: (exchange: Exchange) => void;
  readonly onConnection?: () => void;
  /** Where a GET with a Sec-WebSocket-Key is an exchange that can be upgraded. */
  readonly socketPath?: string;
}

const SOCKETS = {
  /** None; the typings lack the constant. */
  compression: 0,
  /** What is longer cuts the connection; what is longer than a message may be is answered with 1009 before. */
  maxPayloadLength: 64 * 1024,
  maxBackpressure: FULL_BYTES,
  /** In seconds: after 44 of silence a ping, which is waited for 16; proxies often close after 60. */
  idleTimeout: 60,
  sendPingsAutomatically: true,
} as const;

/**
 * A socket that was closed in good order is told of at once, but its connection stays until the peer closes too, for
 * 16 s (± 4) at most. One that was cut is gone.
 */
const CLOSING_MS = 20_000;
const CUT = 1006;

/** Also in the close handler, where asking for it would throw: its properties are copied onto the object. */
const socketOf = (ws: unknown) => (ws as SocketData).socket;

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
  readonly #ledger: Ledger = { pending: 0, closes: 0, connections: 0 };
  #listening: uws.us_listen_socket | undefined;
  /** One more connection than so many is closed as soon as it is accepted. */
  mostConnections = Number.POSITIVE_INFINITY;

  constructor(options: ServerOptions) {
    const ledger = this.#ledger;
    const take = (response: uws.HttpResponse, request: uws.HttpRequest, upgrade?: Upgrade) => {
      const head = readHead(response, request, options.headersRead);
      const exchange = new Exchange(response, head, ledger, upgrade);
      options.onRequest(exchange);
      exchange.markHandled();
    };
    this.#app = uws
      .App()
      .filter((response, change) => {
        ledger.connections += change;
        if (change < 0) ledger.closes++;
        // Out of descriptors, accept fails and the event loop would spin on the connections that wait.
        else if (ledger.connections > this.mostConnections) response.close();
        else options.onConnection?.();
      })
      .ws<SocketData>(options.socketPath ?? '/*', {
        ...SOCKETS,
        upgrade: (response, request, context) =>
          take(response, request, { key: request.getHeader('sec-websocket-key'), context }),
        open: (ws) => socketOf(ws).markOpen(ws),
        message: (ws, message, isBinary) => socketOf(ws).takeMessage(Buffer.from(message), isBinary),
        drain: (ws) => socketOf(ws).markDrained(),
        close: (ws, code) => {
          if (code === CUT) this.#forgetConnection();
          else setTimeout(() => this.#forgetConnection(), CLOSING_MS).unref();
          socketOf(ws).markClosed();
        },
      })
      // A route that matches nothing would close the socket without an answer: all of them end here.
      .any('/*', (response, request) => take(response, request));
  }

  /** Of a connection that became a WebSocket uWebSockets.js tells `filter` nothing more. */
  #forgetConnection(): void {
    this.#ledger.connections--;
    this.#ledger.closes++;
  }

  /** Sends `bytes`, a text message, to the sockets that joined `topic`, soon after this turn of the event loop. */
  publish(topic: string, bytes: Buffer): void {
    this.#app.publish(topic, bytes, false, false);
  }

  /** Open connections, idle ones included. */
  get connections(): number {
    return this.#ledger.connections;
  }

  /** Requests that are neither answered nor streams yet. */
  get pending(): number {
    return this.#ledger.pending;
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
