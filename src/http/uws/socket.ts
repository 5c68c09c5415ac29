/**
 * One open WebSocket, safe at any time. What uWebSockets.js makes easy to do wrong: its object throws once it is closed,
 * drops a message when too much waits (a close frame too), and says of one that is sent in a handler that it has left.
 */
import type * as uws from 'uWebSockets.js';
import type { Delivery } from '../../commands/command.ts';

/** What a socket tells its owner. */
export interface SocketEvents {
  /** `bytes` are valid during the call only. */
  onMessage(bytes: Buffer, isBinary: boolean): void;
  /** It has room again after it was full. */
  onDrained(): void;
  /** Once, whoever closed it; nothing is told after it. */
  onClosed(): void;
}

/** What uWebSockets.js keeps beside a socket. */
export interface SocketData {
  readonly socket: Socket;
}

/**
 * More than this waiting in user memory: full. Then uWebSockets.js drops what is published, which may be lost, and what
 * may not is kept here. The kernel keeps 16 KiB unsent as well (listening.ts).
 */
export const FULL_BYTES = 16 * 1024;
/** The most that is kept for a full socket. */
const MOST_KEPT_BYTES = 64 * 1024;
/** How long a full socket is given to make room for the close frame. */
const CLOSE_LIMIT_MS = 5000;

/** The codes of RFC 6455, 7.4.1, that are used. */
export const CLOSE_CODES = { goingAway: 1001, policy: 1008, tooBig: 1009, broken: 1011 } as const;
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES];

export class Socket {
  readonly #events: SocketEvents;
  #ws: uws.WebSocket<SocketData> | undefined;
  #kept: string[] | undefined;
  #keptBytes = 0;
  #deliveries: ((delivery: Delivery) => void)[] | undefined;
  #isOver = false;
  #closeFull: (() => void) | undefined;

  constructor(events: SocketEvents) {
    this.#events = events;
  }

  /** Called by the server alone, when the upgrade is done. */
  markOpen(ws: uws.WebSocket<SocketData>): void {
    this.#ws = ws;
  }

  get isOpen(): boolean {
    return this.#ws !== undefined && !this.#isOver;
  }

  /** What is published is lost, and what is sent is kept until there is room. */
  get isFull(): boolean {
    return this.#kept !== undefined || (this.#ws?.getBufferedAmount() ?? 0) > FULL_BYTES;
  }

  /** Sends `text`, or keeps it until there is room; one that can't be kept closes the socket. */
  send(text: string): void {
    if (!this.isOpen) return;
    if (!this.isFull) {
      this.#ws?.send(text, false, false);
      return;
    }
    this.#keptBytes += Buffer.byteLength(text);
    if (this.#keptBytes > MOST_KEPT_BYTES) {
      this.end(CLOSE_CODES.policy, TOO_SLOW);
      return;
    }
    this.#kept ??= [];
    this.#kept.push(text);
  }

  /** Sends `text` in a later turn and tells, once, when the kernel has taken its bytes or the socket has closed. */
  sendAndTell(text: string, onDelivered: (delivery: Delivery) => void): void {
    // In a turn of its own: in a handler everything is held back until it returns.
    setImmediate(() => {
      this.send(text);
      if (!this.isOpen) {
        onDelivered('closed');
        return;
      }
      this.#deliveries ??= [];
      this.#deliveries.push(onDelivered);
      this.#tellDelivered();
    });
  }

  /** What is sent in `body` leaves together. */
  cork(body: () => void): void {
    if (this.isOpen) this.#ws?.cork(body);
  }

  join(topic: string): void {
    if (this.isOpen) this.#ws?.subscribe(topic);
  }

  leave(topic: string): void {
    if (this.isOpen) this.#ws?.unsubscribe(topic);
  }

  /** Closes with a code and a reason in words, after what is kept. Its owner hears of the end within this call. */
  end(code: CloseCode, reason: string): void {
    const ws = this.#ws;
    if (ws === undefined || this.#isOver) return;
    const kept = this.#kept ?? [];
    this.#finish();
    if (kept.length === 0 && ws.getBufferedAmount() <= FULL_BYTES) {
      ws.end(code, reason);
      return;
    }
    // Now the close frame would be dropped.
    for (const topic of ws.getTopics()) ws.unsubscribe(topic);
    const timer = setTimeout(() => this.#ws?.close(), CLOSE_LIMIT_MS).unref();
    this.#closeFull = () => {
      while (kept.length > 0 && ws.getBufferedAmount() <= FULL_BYTES) ws.send(kept.shift() ?? '');
      if (ws.getBufferedAmount() > FULL_BYTES) return;
      clearTimeout(timer);
      ws.end(code, reason);
    };
  }

  /** Cuts the connection at once. */
  cut(): void {
    this.#ws?.close();
  }

  /** Called by the server alone. */
  takeMessage(bytes: Buffer, isBinary: boolean): void {
    if (this.isOpen) this.#events.onMessage(bytes, isBinary);
  }

  /** Called by the server alone: the kernel has taken some of what waited. */
  markDrained(): void {
    if (this.#isOver) {
      this.#closeFull?.();
      return;
    }
    const kept = this.#kept;
    if (kept !== undefined && (this.#ws?.getBufferedAmount() ?? 0) <= FULL_BYTES) {
      this.#kept = undefined;
      this.#keptBytes = 0;
      // Those that don't fit any more are kept again.
      for (const text of kept) this.send(text);
    }
    this.#tellDelivered();
    if (this.isOpen && !this.isFull) this.#events.onDrained();
  }

  /** Called by the server alone: from now on nothing must be asked of uWebSockets.js's object. */
  markClosed(): void {
    this.#ws = undefined;
    if (!this.#isOver) this.#finish();
  }

  #tellDelivered(): void {
    const deliveries = this.#deliveries;
    if (deliveries === undefined || this.#kept !== undefined || this.#ws?.getBufferedAmount() !== 0) return;
    this.#deliveries = undefined;
    for (const onDelivered of deliveries) onDelivered('sent');
  }

  #finish(): void {
    this.#isOver = true;
    this.#kept = undefined;
    const deliveries = this.#deliveries ?? [];
    this.#deliveries = undefined;
    for (const onDelivered of deliveries) onDelivered('closed');
    this.#events.onClosed();
  }
}

const TOO_SLOW = 'too slow for its answers';
