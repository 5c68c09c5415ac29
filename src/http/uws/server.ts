/**
 * The only file that loads uWebSockets.js. Turns its requests and upgrades into an exchange or a socket, which are safe to
 * use at any time (its own request object is dead after its handler).
 */
import * as uws from 'uWebSockets.js';
import { QUOTAS } from '../../fairness/limits.ts';
import { Quota } from '../../fairness/quota.ts';
import { type Engine, type EngineOptions, ListenError } from '../engine.ts';
import { FULL_BYTES } from '../engine-socket.ts';
import type { HeaderLists, RequestHead } from '../head.ts';
import { asksForSocket, UPGRADE_HEADERS } from '../upgrade.ts';
import { BodyEnds } from './body-ends.ts';
import { Counters } from './counters.ts';
import { type ExchangeDeps, type SocketData, type Upgrade, UwsExchange, writeHead } from './exchange.ts';
import { HandOvers } from './hand-overs.ts';

// The flag of uSockets that leaves out SO_REUSEPORT: a second instance must fail, not share the port.
const LISTEN_EXCLUSIVE = 1;

const SOCKETS = {
  /** None; the typings lack the constant. */
  compression: 0,
  /** A longer message cuts the connection. The session closes with 1009 at a lower limit. */
  maxPayloadLength: QUOTAS.socketFrame.maxBytes,
  maxBackpressure: FULL_BYTES,
  /** Seconds: a ping after 44 s of silence, and 16 s to answer it. Proxies often close after 60 s. */
  idleTimeout: 60,
  sendPingsAutomatically: true,
} as const;

/**
 * A WebSocket's end is reported immediately, but its connection may stay until the peer closes it, for at most 16 s (± 4).
 * The code of the close frame does not say: 1006, which stands for a connection that is gone, may have been sent.
 */
const CLOSING_MS = 20_000;
const GONE = 1006;
/** From one count of open descriptors to the next, at least, and as a multiple of what one took: old kernels list them. */
const COUNT_MS = 10;
const COUNT_FACTOR = 20;

/** Works also in the close handler, where getUserData() throws: its properties are copied onto the object. */
const socketOf = (ws: unknown) => (ws as SocketData).socket;

/** Empty when the socket is already reset. */
function addressOf(response: uws.HttpResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

function readHeaders(request: uws.HttpRequest, wanted: ReadonlySet<string>): HeaderLists {
  const headers = new Map<string, string[]>();
  request.forEach((name, value) => {
    if (!wanted.has(name)) return;
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  });
  return headers;
}

function readHead(
  response: uws.HttpResponse,
  request: uws.HttpRequest,
  wanted: ReadonlySet<string>,
): RequestHead {
  const address = addressOf(response);
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers: readHeaders(request, wanted),
    remoteAddress: address === '' ? undefined : address,
    isSecure: false,
  };
}

/** Over plain TCP: HTTPS is served by the other engine (engines.ts). */
export class UwsEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #counters = new Counters();
  readonly #app: uws.TemplatedApp;
  #socket: uws.us_listen_socket | undefined;
  /** Connections that are said to be gone, and may still be there. */
  #doubtful = 0;
  /** Connections that may be accepted until the next count of descriptors, although as many as may be are counted. */
  #room = 0;
  #countAgainAt = 0;
  maxConnections = Number.POSITIVE_INFINITY;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#app = uws.App();
    this.#prepare(this.#app);
  }

  #prepare(app: uws.TemplatedApp): void {
    const options = this.#options;
    const counters = this.#counters;
    const polls = options.openPolls?.();
    const deps: ExchangeDeps = {
      counters,
      quota: options.quota ?? new Quota(),
      bodyEnds: new BodyEnds(),
      handOvers: polls && new HandOvers(polls),
    };
    const take = (response: uws.HttpResponse, request: uws.HttpRequest, upgrade?: Upgrade) => {
      deps.bodyEnds.reportAll();
      const head = readHead(response, request, options.headersRead);
      const exchange = new UwsExchange(response, head, deps, upgrade);
      options.onRequest(exchange);
      exchange.markHandled();
    };
    app.filter((response, change) => {
      counters.connections += change;
      if (change < 0) counters.closes++;
      // Out of descriptors, accept fails and the event loop would spin on the connections that wait.
      else if (!this.#hasCapacity()) response.close();
      else {
        const refusal = options.onConnection?.(addressOf(response));
        if (refusal === undefined) return;
        response.cork(() => {
          writeHead(response, refusal.status, refusal.headers);
          response.end(refusal.body, true);
        });
      }
    });
    // Its own patterns name the part that may be any.
    for (const path of options.socketPaths?.map((each) => each.replace('*', ':part')) ?? ['/*'])
      app.ws<SocketData>(path, {
        ...SOCKETS,
        ...(options.longSocketPaths?.includes(path) && { maxPayloadLength: QUOTAS.machineFrame.maxBytes }),
        // Called for every GET with a key of 24 bytes.
        upgrade: (response, request, context) => {
          const headers = readHeaders(request, UPGRADE_HEADERS);
          const [key = ''] = headers.get('sec-websocket-key') ?? [];
          const isUpgrade = asksForSocket({ method: 'GET', headers });
          take(response, request, isUpgrade ? { key, context } : undefined);
        },
        open: (ws) => socketOf(ws).markOpen(ws),
        message: (ws, message, isBinary) => socketOf(ws).takeMessage(Buffer.from(message), isBinary),
        ping: (ws) => socketOf(ws).takeControlFrame(),
        pong: (ws) => socketOf(ws).takeControlFrame(),
        drain: (ws) => socketOf(ws).markDrained(),
        close: (ws, code) => {
          const socket = socketOf(ws);
          this.#endSocket(code, socket.isCut);
          socket.markClosed();
        },
      });
    // Catches everything: uWebSockets.js closes the socket without an answer where no route matches.
    app.any('/*', (response, request) => take(response, request));
  }

  /** uWebSockets.js does not call `filter` for a connection that became a WebSocket. */
  #endSocket(code: number, isCut: boolean): void {
    const isGone = isCut || code === GONE;
    if (isGone) this.#forgetConnection();
    if (isCut) return;
    if (isGone) this.#doubtful++;
    setTimeout(() => {
      if (isGone) this.#doubtful--;
      else this.#forgetConnection();
    }, CLOSING_MS).unref();
  }

  #forgetConnection(): void {
    this.#counters.connections--;
    this.#counters.closes++;
  }

  /** Whether the descriptors that are really open leave room: those of ended WebSockets may be gone long before. */
  #hasCapacity(): boolean {
    if (this.connections + this.#doubtful <= this.maxConnections) return true;
    const beganAt = performance.now();
    if (this.#room <= 0 && beganAt >= this.#countAgainAt) {
      this.#room = this.maxConnections - (this.#options.countDescriptors?.() ?? Number.POSITIVE_INFINITY);
      const now = performance.now();
      this.#countAgainAt = now + Math.max(COUNT_MS, (now - beganAt) * COUNT_FACTOR);
    }
    return this.#room-- > 0;
  }

  publish(topic: string, bytes: Buffer): void {
    this.#app.publish(topic, bytes, false, false);
  }

  get connections(): number {
    return this.#counters.connections + (this.#options.countAdopted?.() ?? 0);
  }

  get pending(): number {
    return this.#counters.pending;
  }

  async listen(host: string, port: number): Promise<number> {
    // The typings lack this overload; the binding reads (host, port, options, callback).
    const listen = this.#app.listen.bind(this.#app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: uws.us_listen_socket | false) => void,
    ) => void;
    listen(host, port, LISTEN_EXCLUSIVE, (socket) => {
      this.#socket = socket === false ? undefined : socket;
    });
    if (this.#socket === undefined) throw new ListenError(host, port);
    return uws.us_socket_local_port(this.#socket);
  }

  async renew(): Promise<void> {
    throw new Error('this engine does not speak HTTPS');
  }

  stopListening(): void {
    if (this.#socket !== undefined) uws.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }

  close(): void {
    this.stopListening();
    this.#app.close();
  }
}
