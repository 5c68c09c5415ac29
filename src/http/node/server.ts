/** The engine on node:http: for every Node and every C library, and for what uWebSockets.js refuses (docs/engines.md). */
import http from 'node:http';
import type https from 'node:https';
import net from 'node:net';
import { Quota } from '../../fairness/quota.ts';
import type { TlsPair } from '../../tls/pair.ts';
import { type Engine, type EngineOptions, ListenError } from '../engine.ts';
import { matchesPath } from '../head.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { asksForUpgrade, hasBody, lastBytes, PLAIN_REQUEST, readHead, withoutZone } from './head.ts';
import { answerPlain, createSecureServer, renewContext } from './secure.ts';
import { NodeSockets } from './sockets.ts';

const LIMITS = {
  // Bytes that two parsers may take for different requests are refused.
  insecureHTTPParser: false,
  // The gate answers a missing Host, with an error like any other.
  requireHostHeader: false,
  // As with uWebSockets.js: browsers also send the cookies of other services on this host name.
  maxHeaderSize: 16 * 1024,
  // A head may take 10 s, as long as uWebSockets.js lets a connection be idle; with its body (1 MiB at most) 30 s.
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // An idle connection is closed after 10 s, as by uWebSockets.js.
  keepAliveTimeout: 10_000,
  // Heads and requests are cut at most this much later.
  connectionsCheckingInterval: 2000,
  // So much waits in user memory before a socket counts as full, whatever this Node's default is.
  highWaterMark: 16 * 1024,
  noDelay: true,
} as const;

/**
 * With so many connections at a time the interval becomes `CROWDED_INTERVAL_MS`, until the service ends: Node makes an
 * Error for each connection whose time is up, 25 µs, in one turn of the loop. From the start it would cost an idle
 * service 0.04 % of a core.
 */
const CROWD = 1000;
const CROWDED_INTERVAL_MS = 250;
/** So many of them are cut per turn, 25 µs each: others would wait for all of them. */
const CUT_PER_TURN = 50;
/** Pipelined questions of all connections in one turn: libuv accepts one connection per turn, so turns must be short. */
const PIPELINED_PER_TURN = 1;

/** Returns a function that passes its items to `act`, `count` per turn of the loop. */
function perTurn<Item>(count: number, act: (item: Item) => void): (item: Item) => void {
  const waiting: Item[] = [];
  const next = () => {
    const items = waiting.splice(0, count);
    if (waiting.length > 0) setImmediate(next);
    for (const item of items) act(item);
  };
  return (item) => {
    if (waiting.push(item) === 1) setImmediate(next);
  };
}

/** Node's code for a head or a request that took too long. */
const TOO_LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Raised again by listening.ts where the kernel lets it. */
const BACKLOG = 4096;

/** Whether Node may take the request out of HTTP: only for what can become a WebSocket. */
function canUpgrade(request: http.IncomingMessage, paths: readonly string[] | undefined): boolean {
  return (
    asksForUpgrade(request) &&
    !hasBody(request) &&
    (paths === undefined || paths.some((path) => matchesPath(path, request.url?.split('?', 1)[0] ?? '')))
  );
}

/** From Node 25 on its parser also reads the body of a request that it takes out of HTTP. */
const LEAVES_BODIES = Number.parseInt(globalThis.process.versions.node, 10) < 25;

const isChunked = ({ headers }: http.IncomingMessage): boolean =>
  LEAVES_BODIES && headers['transfer-encoding']?.trim().toLowerCase() === 'chunked';

/**
 * Node takes a request out of HTTP where this property is true: requests that can become a WebSocket, those with a
 * chunked body, which Connection.readChunked reads, and those on a connection that was cut or ends, because otherwise the
 * parser would work through the rest of the read, 1,600 requests in 64 KiB. Requests that name another upgrade (h2c by curl
 * and Java) are ordinary ones.
 */
function requestClass(
  socketPaths: readonly string[] | undefined,
  isEnding: (socket: net.Socket) => boolean,
): typeof http.IncomingMessage {
  return class Request extends http.IncomingMessage {
    // No private field: Node's constructor sets `upgrade` before those of this class exist.
    declare namesUpgrade: boolean;

    get upgrade(): boolean {
      if (isEnding(this.socket) || isChunked(this)) return true;
      return this.namesUpgrade && canUpgrade(this, socketPaths);
    }

    set upgrade(namesUpgrade: boolean) {
      this.namesUpgrade = namesUpgrade;
    }
  };
}

const isLongPath = ({ url = '' }: http.IncomingMessage, paths: readonly string[] = []): boolean =>
  paths.includes(url.split('?', 1)[0] ?? '');

export class NodeEngine implements Engine {
  readonly #options: EngineOptions;
  #plain: http.Server | undefined;
  #secure: https.Server | undefined;
  /** As accepted; over TLS another object than the one in `#connections`, which comes with the end of the handshake. */
  readonly #accepted = new Set<net.Socket>();
  readonly #connections = new Map<net.Socket, Connection>();
  readonly #connectionOptions: ConnectionOptions;
  /** For connections whose heads or requests took too long. */
  readonly #expire = perTurn(CUT_PER_TURN, (connection: Connection) => connection.fail(TOO_LATE));
  #isCrowded = false;
  #pending = 0;
  /** Loaded at the first upgrade. */
  #sockets: NodeSockets | undefined;
  maxConnections = Number.POSITIVE_INFINITY;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#connectionOptions = {
      quota: options.quota ?? new Quota(),
      readHead: (request) => readHead(request, options.headersRead),
      onExchange: options.onRequest,
      onSocket: (owner, request, head) =>
        this.#sockets?.open(owner, request, head, isLongPath(request, options.longSocketPaths)) ?? false,
      putBack: (socket, head) => {
        if (head.length > 0) socket.unshift(head);
        // Over TLS the handshake is done.
        if ('encrypted' in socket) this.#secure?.emit('secureConnection', socket);
        else this.#plain?.emit('connection', socket);
      },
      count: (change) => {
        this.#pending += change;
      },
      onHandedOver: (socket) => void this.#accepted.delete(socket),
      inTurn: perTurn(PIPELINED_PER_TURN, (act) => act()),
    };
  }

  #prepare(server: http.Server | https.Server): void {
    // Headers beyond a limit would be left out without a word, a second Host among them. 16 KiB is the limit.
    server.maxHeadersCount = 0;
    // A poller may use its connection for days.
    server.maxRequestsPerSocket = 0;
    // The time of an answer is limited by its exchange, that of a request by the limits above.
    server.timeout = 0;
    // Connection decides what happens when a peer closes its side; Node would end ours. The typings lack it.
    Object.assign(server, { httpAllowHalfOpen: true });
    const take = (request: http.IncomingMessage, response: http.ServerResponse) =>
      this.#connections.get(request.socket)?.take({ request, response });
    server
      .on('connection', (socket) => this.#accept(socket, server === this.#secure))
      .on('request', take)
      // Continued when its turn has come.
      .on('checkContinue', take)
      // Another expectation is ignored.
      .on('checkExpectation', take)
      // Every socket of a server on TCP is one of node:net.
      .on('upgrade', (request, socket, head) => {
        if (this.#isEnding(socket as net.Socket)) return;
        if (isChunked(request))
          this.#connections.get(socket as net.Socket)?.take({ request, chunkedHead: head });
        else this.#upgrade(request, socket as net.Socket, head).catch(() => socket.destroy());
      })
      .on('clientError', (error: NodeJS.ErrnoException, socket) => {
        const connection = this.#connections.get(socket as net.Socket);
        if (error.code === PLAIN_REQUEST) answerPlain(socket);
        else if (connection === undefined || error.code === 'ECONNRESET') socket.destroy();
        else if (error.code === TOO_LATE) this.#expire(connection);
        else connection.fail(error.code ?? '');
      });
    if (server === this.#secure) server.on('secureConnection', (socket) => this.#connect(socket));
  }

  #accept(socket: net.Socket, isSecure: boolean): void {
    // Put back after an upgrade that was refused.
    if (this.#accepted.has(socket)) return;
    const address = withoutZone(socket.remoteAddress ?? '');
    this.#accepted.add(socket);
    if (this.#accepted.size > CROWD && !this.#isCrowded) this.#checkMoreOften();
    socket.on('close', () => this.#accepted.delete(socket));
    if (isSecure) socket.on('error', () => undefined);
    else this.#connect(socket);
    // So that descriptors are left for the service's own files.
    if (this.connections > this.maxConnections) socket.destroy();
    else {
      const refusal = this.#options.onConnection?.(address);
      if (refusal === undefined) return;
      // Nothing can be said before the handshake of TLS.
      if (!isSecure) socket.write(lastBytes(refusal));
      socket.destroy();
    }
  }

  #checkMoreOften(): void {
    this.#isCrowded = true;
    for (const server of this.#servers) {
      // Node's servers read it when they begin to listen; the typings lack it.
      Object.assign(server, { connectionsCheckingInterval: CROWDED_INTERVAL_MS });
      server.emit('listening');
    }
  }

  /** HTTP can be spoken on it. */
  #connect(socket: net.Socket): void {
    if (this.#connections.has(socket)) return;
    const connection = new Connection(socket, this.#connectionOptions);
    this.#connections.set(socket, connection);
    socket.on('close', () => {
      this.#connections.delete(socket);
      connection.markClosed();
    });
    // A reset. 'close' follows.
    socket.on('error', () => undefined);
  }

  /** Node has taken the connection out of HTTP: it becomes a WebSocket, or is put back. */
  async #upgrade(request: http.IncomingMessage, socket: net.Socket, head: Buffer): Promise<void> {
    if (this.#sockets === undefined) {
      const sockets = await NodeSockets.load();
      this.#sockets ??= sockets;
    }
    if (!socket.destroyed) this.#connections.get(socket)?.take({ request, upgradeHead: head });
  }

  /** Whether the connection is being closed, so that further bytes are not served. */
  #isEnding(socket: net.Socket): boolean {
    return socket.destroyed || this.#connections.get(socket)?.isEnding === true;
  }

  get connections(): number {
    return this.#accepted.size + (this.#options.countAdopted?.() ?? 0);
  }

  get pending(): number {
    return this.#pending;
  }

  async listen(host: string, port: number, pair?: TlsPair): Promise<number> {
    const server = await this.#createServer(pair);
    this.#prepare(server);
    return await new Promise((resolve, reject) => {
      const onError = () => reject(new ListenError(host, port));
      server.once('error', onError);
      server.listen({ host, port, exclusive: true, backlog: BACKLOG }, () => {
        server.off('error', onError);
        // Not a pipe: it has an address.
        resolve((server.address() as net.AddressInfo).port);
      });
    });
  }

  async #createServer(pair: TlsPair | undefined): Promise<http.Server | https.Server> {
    const isEnding = (socket: net.Socket) => this.#isEnding(socket);
    const options = { ...LIMITS, IncomingMessage: requestClass(this.#options.socketPaths, isEnding) };
    if (pair === undefined) {
      this.#plain = http.createServer(options);
      return this.#plain;
    }
    this.#secure = await createSecureServer(options, pair);
    return this.#secure;
  }

  get #servers(): readonly (http.Server | https.Server)[] {
    return [this.#plain, this.#secure].filter((server) => server !== undefined);
  }

  async renew(pair: TlsPair): Promise<void> {
    if (this.#secure === undefined) throw new Error('there is no listening socket for HTTPS');
    renewContext(this.#secure, pair);
  }

  stopListening(): void {
    // close() of http.Server closes idle connections too; their next request is answered with 503 while the service stops.
    for (const server of this.#servers) net.Server.prototype.close.call(server);
  }

  close(): void {
    for (const server of this.#servers) server.close();
    this.#sockets?.close();
    for (const socket of [...this.#connections.keys(), ...this.#accepted]) socket.destroy();
  }

  publish(topic: string, bytes: Buffer): void {
    this.#sockets?.publish(topic, bytes);
  }
}
