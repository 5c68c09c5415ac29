/**
 * The interface of an HTTP engine: all code above it knows this file only, and not which engine runs. There are two, in uws/ and
 * in node/; src/engines.ts chooses one and loads nothing of the other.
 */

import type { Caller } from '../access/caller.ts';
import type { Holder, Quota } from '../fairness/quota.ts';
import type { Framing, PausedPolls } from '../host/streams.ts';
import type { TlsPair } from '../tls/pair.ts';
import type { Answer, RequestHead } from './head.ts';

export interface Engine {
  /** Open connections, idle ones included. */
  readonly connections: number;
  /** Requests that are neither answered nor streams yet. */
  readonly pending: number;
  /** A connection beyond this number is closed as soon as it is accepted. */
  maxConnections: number;
  /**
   * Listens on `host` and `port` (0: a free one) and resolves with the port; with `pair` for HTTPS. At most once for each
   * of the two. Rejects with ListenError, or an Error when it refuses the pair.
   */
  listen(host: string, port: number, pair?: TlsPair): Promise<number>;
  /**
   * Uses another certificate for new connections to the HTTPS port; open ones stay. The listening socket may be another
   * one then. Rejects with an Error, and keeps the old certificate.
   */
  renew(pair: TlsPair): Promise<void>;
  /** Accepts no more connections; the open ones stay. */
  stopListening(): void;
  /** Closes every connection immediately. */
  close(): void;
  /** Sends the text message `bytes` to the sockets that joined `topic`, soon after this turn of the event loop. */
  publish(topic: string, bytes: Buffer): void;
}

export interface EngineOptions {
  /** The lower-case names of the headers to read. */
  readonly headersRead: ReadonlySet<string>;
  readonly onRequest: (exchange: Exchange) => void;
  /** Called for each connection that is accepted, with the peer's address. Refuses it with the answer that is returned. */
  readonly onConnection?: (address: string) => Answer | undefined;
  /** Connections that were handed over (Exchange.handOver) and are still open: they count as the engine's. */
  readonly countAdopted?: () => number;
  /**
   * For an engine that does not know the descriptors of the connections that it hands over; called once. undefined: they
   * cannot be found out, and it sends its streams itself.
   */
  readonly openPolls?: () => PausedPolls | undefined;
  /** The descriptors that this process has open; undefined: not known. */
  readonly countDescriptors?: () => number | undefined;
  /** Counts what is kept for peers; without one nothing is limited. */
  readonly quota?: Quota;
  /** The paths where a request for a WebSocket can be upgraded, as those of routes; by default any. */
  readonly socketPaths?: readonly string[];
  /** Those of them whose messages may be long (QUOTAS.machineFrame): who upgrades there has proved to be a machine. */
  readonly longSocketPaths?: readonly string[] | undefined;
}

/** The port could not be opened for listening. */
export class ListenError extends Error {
  readonly host: string;
  readonly port: number;

  constructor(host: string, port: number) {
    super(`port ${port} on ${host} cannot be opened: it is in use, or this user may not listen on it`);
    this.name = 'ListenError';
    this.host = host;
    this.port = port;
  }
}

/** 'sent': the kernel has every byte; 'closed': the peer has gone. */
export type Delivery = 'sent' | 'closed';

/** One request and its one answer, safe to use at any time: when its peer has gone its methods do nothing. */
export interface Exchange extends Holder {
  readonly head: RequestHead;
  /** The address to which kept bytes are charged: the peer's, until the gate has found the client's. */
  address: string;
  /** Not answered, and its peer is still there. */
  readonly isOpen: boolean;
  /** Whether `startSocket` can upgrade it: it asks for a socket (upgrade.ts), and is still being handled. */
  readonly canUpgrade: boolean;
  /** Must be called once, while the request is being handled: later its bytes are gone. Throws otherwise. */
  readBody(events: BodyEvents): void;
  /** Reports that `bytes` of the body are kept until all of it has arrived. */
  bufferBody(bytes: number): void;
  /** Sends the answer in a later turn; false when the peer has gone or the request was answered before. */
  answer(answer: Answer): boolean;
  /** As `answer`; then closes the connection and reports the delivery, once at most. */
  answerAndClose(answer: Answer, onDelivered: (delivery: Delivery) => void): void;
  /**
   * Upgrades to a WebSocket, without subprotocol and extensions; more than `maxKeptBytes` of kept messages close it. undefined
   * when it cannot be upgraded.
   */
  startSocket(events: SocketEvents, maxKeptBytes?: number): Socket | undefined;
  /**
   * Gives its connection to `taker`, which answers, immediately or in a later turn; the engine writes no byte of the answer.
   * undefined: it cannot be given away (TLS, a peer that has gone), and is to be answered here.
   */
  handOver(taker: Taker): HandOver | undefined;
  /**
   * Answers with headers and a first event, and keeps the connection as a stream. `isWhole` false: the event was long,
   * and the stream must `resume` in a later turn. undefined when the peer has gone.
   */
  startStream(start: StreamStart): { readonly socket: StreamSocket; readonly isWhole: boolean } | undefined;
}

/** Takes a connection from an engine. One of its functions is called, once. */
export interface Taker {
  /** Owns a duplicate of `descriptor` from now on; throws where it cannot, and the connection is cut. */
  take(descriptor: number, framing: Framing): void;
  /** The connection has closed, or was cut. */
  onGone(): void;
  /** Its descriptor was not found: the exchange is to be answered by the engine. */
  onRefused(): void;
}

/** A connection that is being handed over. */
export interface HandOver {
  /** Cuts it, if it was not taken yet. */
  cut(): void;
}

export interface BodyEvents {
  /**
   * Each chunk is valid only during the call. The last one is reported when the engine has accepted what arrived with it:
   * from then on the request may act, and its answer is sent whatever else the client sends.
   */
  readonly onChunk: (chunk: Buffer, isLast: boolean) => void;
  readonly onAborted: () => void;
}

/** Receives its stream as `this`, so that a stream holds only one bound function beside its socket. */
export type StreamEventHandler = (this: StreamSocket, offset?: number) => boolean;

/** How a stream starts. */
export interface StreamStart {
  readonly status: string;
  readonly headers: Answer['headers'];
  /** The first event. */
  readonly event: Buffer;
  readonly caller: Caller;
  readonly sent: number;
  readonly writtenAt: number;
  /** Called with an offset when writing is possible again, without one when the connection has closed. */
  readonly onEvent: StreamEventHandler;
}

/** One open event stream: writes to it safely, and holds the fan-out's state of it. */
export interface StreamSocket extends Holder {
  /** For judging it again after a reload. */
  readonly caller: Caller;
  /** Its place in its fan-out's list. */
  place: number;
  /** Number of the newest event this stream has had (or may skip, having just joined). */
  sent: number;
  /** Time of the last write, in whole seconds. */
  writtenAt: number;
  /** A write did not fit: nothing more is written until the socket drains. */
  readonly isFull: boolean;
  /** The maximum of what is kept for it in user memory while it is full, where the last event had `eventBytes`. */
  bufferedBytes(eventBytes: number): number;
  /** Sends one event, `data: …\n\n`. Nothing is sent while full or closed. */
  send(event: Buffer): void;
  /** As `send`, for a socket that has just drained: it may be full again before all kept bytes have left. */
  sendDrained(event: Buffer): void;
  /** The kernel has room again. False: the rest of a long event has filled it again. */
  resume(): boolean;
  /** Passes kept bytes to the kernel, as far as they fit. */
  flush(): void;
  /** Sends a comment, so that the connection is not silent. */
  sendComment(): void;
  /** Ends the stream, after the events that were begun. */
  end(): void;
  /** The connection has closed: nothing must be written any more. */
  markClosed(): void;
}

/** The events of a WebSocket, for its owner. */
export interface SocketEvents {
  /** `bytes` are valid during the call only. */
  onMessage(bytes: Buffer, isBinary: boolean): void;
  /** A ping or a pong, which was answered where needed. */
  onControlFrame(): void;
  /** It has room again after it was full. */
  onDrained(): void;
  /** Called once, after either side has closed it; no event follows. */
  onClosed(): void;
}

/** The close codes in use (RFC 6455, 7.4.1). */
export const CLOSE_CODES = { goingAway: 1001, policy: 1008, tooBig: 1009, broken: 1011 } as const;
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES];

/** One open WebSocket, safe to use at any time. */
export interface Socket extends Holder {
  readonly isOpen: boolean;
  /** While full, published messages are lost, and sent ones are kept until there is room. */
  readonly isFull: boolean;
  /** Sends `text`, or keeps it until there is room; too many bytes of kept messages close the socket. */
  send(text: string): void;
  /** Sends `text` in a later turn; calls `onDelivered` once, when the kernel has its bytes or the socket has closed. */
  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void;
  /** Reports what is kept for it to the quota; published messages wait without any other notice. */
  reportBuffered(): void;
  /** Messages that `body` sends leave together. */
  cork(body: () => void): void;
  join(topic: string): void;
  leave(topic: string): void;
  /** Closes with a code and a reason, after the kept messages. Calls `onClosed` before it returns. */
  end(code: CloseCode, reason: string): void;
}
