/**
 * The only file that loads uWebSockets.js: connections, requests and upgrades come in here, and leave as an Exchange or a
 * Socket, which know the hazards of what they wrap (a request object is dead after its handler).
 */
import * as uws from 'uWebSockets.js';
import { Exchange, type Ledger, type RequestHead } from './exchange.ts';

export interface ServerOptions {
  /** The lower-case names of the headers that anything looks at; others are not read. */
  readonly headersRead: ReadonlySet<string>;
  readonly onRequest: (exchange: Exchange) => void;
  readonly onConnection?: () => void;
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
  readonly #ledger: Ledger = { pending: 0, closes: 0, connections: 0 };
  #listening: uws.us_listen_socket | undefined;
  /** One more connection than so many is closed as soon as it is accepted. */
  mostConnections = Number.POSITIVE_INFINITY;

  constructor(options: ServerOptions) {
    const ledger = this.#ledger;
    this.#app = uws
      .App()
      .filter((response, change) => {
        ledger.connections += change;
        if (change < 0) ledger.closes++;
        // Out of descriptors, accept fails and the event loop would spin on the connections that wait.
        else if (ledger.connections > this.mostConnections) response.close();
        else options.onConnection?.();
      })
      // A route that matches nothing would close the socket without an answer: all of them end here.
      .any('/*', (response, request) => {
        const exchange = new Exchange(response, readHead(response, request, options.headersRead), ledger);
        options.onRequest(exchange);
        exchange.markHandled();
      });
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
