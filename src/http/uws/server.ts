/**
 * The only file that loads uWebSockets.js. Turns its requests and upgrades into an exchange or a socket, which are safe to
 * use at any time (its own request object is dead after its handler).
 */
import type * as uws from 'uWebSockets.js';
import type { TlsPair } from '../../tls/pair.ts';
import { Ledger } from '../clients/ledger.ts';
import type { Engine, EngineOptions } from '../engine.ts';
import { FULL_BYTES } from '../engine-socket.ts';
import type { RequestHead } from '../head.ts';
import { Counters } from './counters.ts';
import { type SocketData, type Upgrade, UwsExchange } from './exchange.ts';
import { Listener } from './listener.ts';

const SOCKETS = {
  /** None; the typings lack the constant. */
  compression: 0,
  /** A longer message cuts the connection. The session closes with 1009 at a lower limit. */
  maxPayloadLength: 64 * 1024,
  maxBackpressure: FULL_BYTES,
  /** Seconds: a ping after 44 s of silence, and 16 s to answer it. Proxies often close after 60 s. */
  idleTimeout: 60,
  sendPingsAutomatically: true,
} as const;

/**
 * A WebSocket's end is reported at once, but its connection may stay until the peer closes it, for at most 16 s (± 4).
 * The code of the close frame does not say: 1006, which stands for a connection that is gone, may have been sent.
 */
const CLOSING_MS = 20_000;
const GONE = 1006;
/** The greatest share of time that counting open descriptors may take: old kernels list them, new ones know. */
const COUNTING_SHARE = 0.05;

/** Works also in the close handler, where getUserData() throws: its properties are copied onto the object. */
const socketOf = (ws: unknown) => (ws as SocketData).socket;

/** Empty when the socket is already reset. */
function addressOf(response: uws.HttpResponse): string {
  return Buffer.from(response.getRemoteAddressAsText()).toString('latin1');
}

function readHead(
  response: uws.HttpResponse,
  request: uws.HttpRequest,
  wanted: ReadonlySet<string>,
  isSecure: boolean,
): RequestHead {
  const headers = new Map<string, string[]>();
  request.forEach((name, value) => {
    if (!wanted.has(name)) return;
    const values = headers.get(name);
    if (values === undefined) headers.set(name, [value]);
    else values.push(value);
  });
  const address = addressOf(response);
  return {
    method: request.getCaseSensitiveMethod(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    headers,
    remoteAddress: address === '' ? undefined : address,
    isSecure,
  };
}

export class UwsEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #ledger: Ledger;
  readonly #counters = new Counters();
  /** Those that listen, and those with an earlier certificate that still have connections. */
  #listeners: readonly Listener[] = [];
  #secure: { readonly listener: Listener; readonly host: string; readonly port: number } | undefined;
  /** Connections that are said to be gone, and may still be there. */
  #doubtful = 0;
  /** Connections that are counted as open, and were gone at the last count of descriptors. */
  #phantoms = 0;
  #countedAt = 0;
  #countAgainAt = 0;
  maxConnections = Number.POSITIVE_INFINITY;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#ledger = options.ledger ?? new Ledger();
  }

  #createListener(pair: TlsPair | undefined): Listener {
    const options = this.#options;
    const counters = this.#counters;
    const listener = new Listener(pair);
    const { isSecure } = listener;
    const take = (response: uws.HttpResponse, request: uws.HttpRequest, upgrade?: Upgrade) => {
      const head = readHead(response, request, options.headersRead, isSecure);
      const exchange = new UwsExchange(response, head, counters, this.#ledger, upgrade);
      options.onRequest(exchange);
      exchange.markHandled();
    };
    listener.app.filter((response, change) => {
      counters.connections += change;
      listener.connections += change;
      if (change < 0) this.#noteClosed(listener);
      // Out of descriptors, accept fails and the event loop would spin on the connections that wait.
      else if (this.#mayBeOpen > this.maxConnections && !this.#hasRoom()) response.close();
      else if (options.onConnection?.(addressOf(response)) === false) response.close();
    });
    // Its own patterns name the part that may be any.
    for (const path of options.socketPaths?.map((each) => each.replace('*', ':part')) ?? ['/*'])
      listener.app.ws<SocketData>(path, {
        ...SOCKETS,
        upgrade: (response, request, context) =>
          take(response, request, { key: request.getHeader('sec-websocket-key'), context }),
        open: (ws) => socketOf(ws).markOpen(ws),
        message: (ws, message, isBinary) => socketOf(ws).takeMessage(Buffer.from(message), isBinary),
        ping: (ws) => socketOf(ws).takeControlFrame(),
        pong: (ws) => socketOf(ws).takeControlFrame(),
        drain: (ws) => socketOf(ws).markDrained(),
        close: (ws, code) => {
          const socket = socketOf(ws);
          this.#endSocket(listener, code, socket.isCut);
          if (!socket.isCut) options.onEnded?.();
          socket.markClosed();
        },
      });
    // Catches everything: uWebSockets.js closes the socket without an answer where no route matches.
    listener.app.any('/*', (response, request) => take(response, request));
    return listener;
  }

  /** uWebSockets.js does not call `filter` for a connection that became a WebSocket. */
  #endSocket(listener: Listener, code: number, isCut: boolean): void {
    const isGone = isCut || code === GONE;
    if (isGone) this.#forgetConnection(listener);
    if (isCut) return;
    if (isGone) this.#doubtful++;
    const endedAt = performance.now();
    setTimeout(() => {
      if (isGone) this.#doubtful--;
      else this.#forgetConnection(listener);
      if (endedAt < this.#countedAt && this.#phantoms > 0) this.#phantoms--;
    }, CLOSING_MS).unref();
  }

  #forgetConnection(listener: Listener): void {
    this.#counters.connections--;
    listener.connections--;
    this.#noteClosed(listener);
  }

  #noteClosed(listener: Listener): void {
    this.#counters.closes++;
    if (listener.connections === 0 && !listener.isListening)
      this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** No fewer than are open. */
  get #mayBeOpen(): number {
    return this.#counters.connections + this.#doubtful - this.#phantoms;
  }

  /** Whether the descriptors that are really open leave room: those of ended WebSockets may be gone long before. */
  #hasRoom(): boolean {
    const now = performance.now();
    if (now < this.#countAgainAt) return false;
    this.#countedAt = now;
    const open = this.#options.countDescriptors?.();
    const endedAt = performance.now();
    this.#countAgainAt = endedAt + (endedAt - now) / COUNTING_SHARE;
    if (open === undefined) return false;
    this.#phantoms = Math.max(0, this.#phantoms + this.#mayBeOpen - open);
    return this.#mayBeOpen <= this.maxConnections;
  }

  publish(topic: string, bytes: Buffer): void {
    // A topic belongs to one app.
    for (const { app } of this.#listeners) app.publish(topic, bytes, false, false);
  }

  get connections(): number {
    return this.#counters.connections;
  }

  get pending(): number {
    return this.#counters.pending;
  }

  async listen(host: string, port: number, pair?: TlsPair): Promise<number> {
    const listener = this.#createListener(pair);
    const bound = listener.listen(host, port);
    if (pair !== undefined && port === 0) {
      // For a port that it chose itself uSockets does not set SO_REUSEADDR, and `renew` could not listen on it again
      // while there are connections.
      listener.stopListening();
      listener.listen(host, bound);
    }
    this.#listeners = [...this.#listeners, listener];
    if (pair !== undefined) this.#secure = { listener, host, port: bound };
    return bound;
  }

  /**
   * A client by address sends no server name, so it always gets the certificate that its app was made with: a new one
   * needs another app. The port is exclusive, so the first app stops listening before the second begins, in one turn.
   */
  async renew(pair: TlsPair): Promise<void> {
    const listener = this.#createListener(pair);
    // The kernel resets connections that the old socket has not accepted yet: fewest right after the loop has polled.
    // With six clients that connected all the time, 0.7 per renewal instead of 4.5.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#secure === undefined) throw new Error('there is no listening socket for HTTPS');
    const { listener: old, host, port } = this.#secure;
    // The service ends.
    if (!old.isListening) return;
    old.stopListening();
    try {
      listener.listen(host, port);
    } catch (error) {
      old.listen(host, port);
      throw error;
    }
    const kept = this.#listeners.filter((other) => other !== old || old.connections > 0);
    this.#listeners = [...kept, listener];
    this.#secure = { listener, host, port };
  }

  stopListening(): void {
    for (const listener of this.#listeners) listener.stopListening();
  }

  close(): void {
    this.stopListening();
    for (const { app } of this.#listeners) app.close();
  }
}
