/** The engine on node:http: for every Node and every C library, and for what uWebSockets.js refuses (docs/engines.md). */
import http from 'node:http';
import net from 'node:net';
import { Ledger } from '../clients/ledger.ts';
import { type Engine, type EngineOptions, ListenError } from '../engine.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { hasBody, readHead, withoutZone } from './head.ts';
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

/** Raised again by listening.ts where the kernel lets it. */
const BACKLOG = 4096;

/** Whether Node may take the request out of HTTP: only for what can become a WebSocket. */
function asksForSocket(request: http.IncomingMessage, socketPath: string | undefined): boolean {
  const { upgrade, 'sec-websocket-key': key } = request.headers;
  return (
    request.method === 'GET' &&
    upgrade?.toLowerCase() === 'websocket' &&
    key !== undefined &&
    /^[+/0-9A-Za-z]{22}==$/.test(key) &&
    !hasBody(request) &&
    (socketPath === undefined || request.url?.split('?', 1)[0] === socketPath)
  );
}

/**
 * Requests that name an upgrade which is not ours (h2c by curl and Java) are ordinary ones. Node takes all of them out of
 * HTTP once somebody listens for upgrades, so this property, which it reads for that, says which.
 */
function requestClass(socketPath: string | undefined): typeof http.IncomingMessage {
  return class Request extends http.IncomingMessage {
    // No private field: Node's constructor sets `upgrade` before those of this class exist.
    declare namesUpgrade: boolean;

    get upgrade(): boolean {
      return this.namesUpgrade && asksForSocket(this, socketPath);
    }

    set upgrade(namesUpgrade: boolean) {
      this.namesUpgrade = namesUpgrade;
    }
  };
}

export class NodeEngine implements Engine {
  readonly #options: EngineOptions;
  readonly #server: http.Server;
  readonly #connections = new Map<net.Socket, Connection>();
  readonly #connectionOptions: ConnectionOptions;
  #pending = 0;
  /** Loaded at the first upgrade. */
  #sockets: NodeSockets | undefined;
  maxConnections = Number.POSITIVE_INFINITY;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#connectionOptions = {
      ledger: options.ledger ?? new Ledger(),
      readHead: (request) => readHead(request, options.headersRead),
      onExchange: options.onRequest,
      onSocket: (...opening) => this.#sockets?.open(...opening) ?? false,
      putBack: (socket, head) => {
        if (head.length > 0) socket.unshift(head);
        this.#server.emit('connection', socket);
      },
      count: (change) => {
        this.#pending += change;
      },
    };
    this.#server = http.createServer({ ...LIMITS, IncomingMessage: requestClass(options.socketPath) });
    // Headers beyond a limit would be left out without a word, a second Host among them. 16 KiB is the limit.
    this.#server.maxHeadersCount = 0;
    // A poller may use its connection for days.
    this.#server.maxRequestsPerSocket = 0;
    // The time of an answer is limited by its exchange, that of a request by the limits above.
    this.#server.timeout = 0;
    this.#listenToServer();
  }

  #listenToServer(): void {
    const take = (request: http.IncomingMessage, response: http.ServerResponse) =>
      this.#connections.get(request.socket)?.take(request, response);
    this.#server
      .on('connection', (socket) => this.#accept(socket))
      .on('request', take)
      // Continued when its turn has come.
      .on('checkContinue', take)
      // Another expectation is ignored.
      .on('checkExpectation', take)
      // Of a server on TCP every socket is one of node:net.
      .on('upgrade', (request, socket, head) => {
        this.#upgrade(request, socket as net.Socket, head).catch(() => socket.destroy());
      })
      .on('clientError', (error: NodeJS.ErrnoException, socket) => {
        const connection = this.#connections.get(socket as net.Socket);
        if (connection === undefined || error.code === 'ECONNRESET') socket.destroy();
        else connection.fail(error.code ?? '');
      });
  }

  #accept(socket: net.Socket): void {
    // Put back after an upgrade that was refused.
    if (this.#connections.has(socket)) return;
    const address = withoutZone(socket.remoteAddress ?? '');
    const connection = new Connection(socket, this.#connectionOptions);
    this.#connections.set(socket, connection);
    socket.on('close', () => {
      this.#connections.delete(socket);
      connection.markClosed();
    });
    // A reset. 'close' follows.
    socket.on('error', () => undefined);
    // So that descriptors are left for the service's own files.
    if (this.connections > this.maxConnections) socket.destroy();
    else if (this.#options.onConnection?.(address) === false) socket.destroy();
  }

  /** Node has taken the connection out of HTTP: it becomes a WebSocket, or is put back. */
  async #upgrade(request: http.IncomingMessage, socket: net.Socket, head: Buffer): Promise<void> {
    if (this.#sockets === undefined) {
      const sockets = await NodeSockets.load();
      this.#sockets ??= sockets;
    }
    if (socket.destroyed) return;
    const response = new http.ServerResponse(request);
    response.assignSocket(socket);
    response.on('finish', () => response.detachSocket(socket));
    this.#connections.get(socket)?.take(request, response, head);
  }

  get connections(): number {
    return this.#connections.size;
  }

  get pending(): number {
    return this.#pending;
  }

  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const onError = () => reject(new ListenError(host, port));
      this.#server.once('error', onError);
      this.#server.listen({ host, port, exclusive: true, backlog: BACKLOG }, () => {
        this.#server.off('error', onError);
        // Not a pipe: it has an address.
        resolve((this.#server.address() as net.AddressInfo).port);
      });
    });
  }

  stopListening(): void {
    // close() of http.Server closes idle connections too; their next request is answered with 503 while the service stops.
    net.Server.prototype.close.call(this.#server);
  }

  close(): void {
    this.#server.close();
    this.#sockets?.close();
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  publish(topic: string, bytes: Buffer): void {
    this.#sockets?.publish(topic, bytes);
  }
}
