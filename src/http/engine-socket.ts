/**
 * An open WebSocket as everything above the engine knows it, on whatever object the engine has for it. That object throws
 * once it is closed, and drops a message (a close frame too) when too much is waiting: this one does neither.
 */
import { deferToNextTurn } from '../clock.ts';
import { PLACES, QUOTAS } from '../fairness/limits.ts';
import type { Quota } from '../fairness/quota.ts';
import { CLOSE_CODES, type CloseCode, type Delivery, type Socket, type SocketEvents } from './engine.ts';

/** The engine's own object of a WebSocket. It is not used after `markClosed`. */
export interface RawSocket {
  /** Bytes that wait in user memory. */
  getBufferedAmount(): number;
  send(text: string): unknown;
  /** Messages that `body` sends leave together. */
  cork(body: () => void): unknown;
  subscribe(topic: string): unknown;
  unsubscribe(topic: string): unknown;
  getTopics(): readonly string[];
  /** Sends a close frame and ends the connection. */
  end(code: number, reason: string): unknown;
  /** Cuts the connection immediately. */
  close(): unknown;
}

/**
 * A socket with more than this waiting in user memory is full. Then the engine drops published messages, which may be
 * lost, and this class keeps all others. The kernel holds 16 KiB unsent as well (listening.ts).
 */
export const FULL_BYTES = 16 * 1024;
/** Maximum wait for a full socket to make room for the close frame. */
const CLOSE_LIMIT_MS = 5000;

export class EngineSocket implements Socket {
  readonly address: string;
  readonly isStream = false;
  readonly #events: SocketEvents;
  readonly #quota: Quota;
  readonly #maxKeptBytes: number;
  #raw: RawSocket | undefined;
  #buffered: string[] | undefined;
  #bufferedBytes = 0;
  /** Memory of the message that is arriving. */
  #inputBytes = 0;
  #deliveries: ((delivery: Delivery) => void)[] | undefined;
  #isOver = false;
  #takenAfterEnd = 0;
  #isCut = false;
  /** A handler of the engine runs: in it, and not in a turn of its own, a connection may be closed immediately. */
  #isHandling = false;
  /** Sends the close frame when there is room for it. */
  #sendClose: (() => void) | undefined;

  /** `maxKeptBytes`: of messages that wait while it is full. */
  constructor(
    events: SocketEvents,
    address: string,
    quota: Quota,
    maxKeptBytes: number = QUOTAS.socketAnswers.maxBytes,
  ) {
    this.#events = events;
    this.address = address;
    this.#quota = quota;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** Called by the engine alone, when the upgrade is done. */
  markOpen(raw: RawSocket): void {
    this.#raw = raw;
  }

  get isOpen(): boolean {
    return this.#raw !== undefined && !this.#isOver;
  }

  get isFull(): boolean {
    return this.#buffered !== undefined || (this.#raw?.getBufferedAmount() ?? 0) > FULL_BYTES;
  }

  /** Sends `text`, or keeps it until there is room; too many bytes close the socket. */
  send(text: string): void {
    if (!this.isOpen) return;
    if (!this.isFull) {
      this.#raw?.send(text);
      this.reportBuffered();
      return;
    }
    this.#bufferedBytes += Buffer.byteLength(text);
    if (this.#bufferedBytes > this.#maxKeptBytes) {
      this.end(CLOSE_CODES.policy, TOO_SLOW);
      return;
    }
    this.#buffered ??= [];
    this.#buffered.push(text);
    this.reportBuffered();
  }

  reportBuffered(): void {
    if (this.#raw === undefined) return;
    this.#quota.set(this, this.#raw.getBufferedAmount() + this.#bufferedBytes + this.#inputBytes);
  }

  /** Called by the engine alone: reports the memory of the message that is arriving, which the peer may never finish. */
  keepInput(bytes: number): void {
    if (bytes === this.#inputBytes) return;
    this.#inputBytes = bytes;
    this.reportBuffered();
  }

  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void {
    // In a turn of its own: within a handler uWebSockets.js holds everything back until it returns.
    deferToNextTurn(() => {
      this.send(text);
      if (!this.isOpen) {
        onDelivered('closed');
        return;
      }
      this.#deliveries ??= [];
      this.#deliveries.push(onDelivered);
      this.#reportDelivered();
    });
  }

  cork(body: () => void): void {
    if (this.isOpen) this.#raw?.cork(body);
  }

  join(topic: string): void {
    if (this.isOpen) this.#raw?.subscribe(topic);
  }

  leave(topic: string): void {
    if (this.isOpen) this.#raw?.unsubscribe(topic);
  }

  end(code: CloseCode, reason: string): void {
    const raw = this.#raw;
    if (raw === undefined || this.#isOver) return;
    const kept = this.#buffered ?? [];
    const isFull = kept.length > 0 || raw.getBufferedAmount() > FULL_BYTES;
    this.#finish();
    for (const topic of raw.getTopics()) raw.unsubscribe(topic);
    const timer = setTimeout(() => this.cut(), CLOSE_LIMIT_MS).unref();
    this.#sendClose = () => {
      while (kept.length > 0 && raw.getBufferedAmount() <= FULL_BYTES) raw.send(kept.shift() ?? '');
      // At this moment the close frame would be dropped.
      if (raw.getBufferedAmount() > FULL_BYTES) return;
      clearTimeout(timer);
      this.#sendClose = undefined;
      raw.end(code, reason);
    };
    if (!isFull) this.#whenClosable(() => this.#sendClose?.());
  }

  /** Cuts the connection. Calls `onClosed` before it returns. */
  cut(): void {
    if (this.#raw === undefined || this.#isCut) return;
    this.#isCut = true;
    if (!this.#isOver) this.#finish();
    this.#whenClosable(() => this.#raw?.close());
  }

  /**
   * Runs `close` in a turn in which a connection of uWebSockets.js may be closed (clock.ts). A handler's turn is one, and
   * the engine then reads no further: what a flood sent in one piece of 512 KiB would occupy the loop for 20 ms.
   */
  #whenClosable(close: () => void): void {
    if (this.#isHandling) close();
    else deferToNextTurn(close);
  }

  /** Its connection was closed here, not by the peer. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Called by the engine alone. */
  takeMessage(bytes: Buffer, isBinary: boolean): void {
    this.#isHandling = true;
    if (this.isOpen) this.#events.onMessage(bytes, isBinary);
    else this.#ignoreInput();
    this.#isHandling = false;
  }

  /** Called by the engine alone. */
  takeControlFrame(): void {
    this.#isHandling = true;
    if (this.isOpen) this.#events.onControlFrame();
    else this.#ignoreInput();
    this.#isHandling = false;
  }

  #ignoreInput(): void {
    if (++this.#takenAfterEnd > PLACES.framesAfterEnd.max) this.cut();
  }

  /** Called by the engine alone: the kernel has taken some of the waiting bytes. */
  markDrained(): void {
    if (this.#isOver) {
      this.#sendClose?.();
      return;
    }
    const kept = this.#buffered;
    if (kept !== undefined && (this.#raw?.getBufferedAmount() ?? 0) <= FULL_BYTES) {
      this.#buffered = undefined;
      this.#bufferedBytes = 0;
      // Messages without room are kept again.
      for (const text of kept) this.send(text);
    }
    this.reportBuffered();
    this.#reportDelivered();
    if (this.isOpen && !this.isFull) this.#events.onDrained();
  }

  /** Called by the engine alone: from now on the engine's object must not be used. */
  markClosed(): void {
    this.#raw = undefined;
    this.#sendClose = undefined;
    this.#quota.release(this);
    if (!this.#isOver) this.#finish();
  }

  #reportDelivered(): void {
    const deliveries = this.#deliveries;
    if (deliveries === undefined || this.#buffered !== undefined || this.#raw?.getBufferedAmount() !== 0)
      return;
    this.#deliveries = undefined;
    for (const onDelivered of deliveries) onDelivered('sent');
  }

  #finish(): void {
    this.#isOver = true;
    this.#buffered = undefined;
    const deliveries = this.#deliveries ?? [];
    this.#deliveries = undefined;
    for (const onDelivered of deliveries) onDelivered('closed');
    this.#events.onClosed();
  }
}

const TOO_SLOW = 'too slow for its answers';
