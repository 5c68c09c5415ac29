/** A WebSocket of the HTTP engine as a carrier: one that a machine has opened, before the ends change roles. */
import { CLOSE_CODES, type Socket, type SocketEvents } from '../http/engine.ts';
import { type Carrier, type CarrierEvents, down } from './carrier.ts';

export class EngineCarrier implements Carrier, SocketEvents {
  readonly #events: CarrierEvents;
  readonly #onEnd: () => void;
  #socket: Socket | undefined;
  #isOver = false;

  /** `onEnd`: called once, whoever ends it. */
  constructor(events: CarrierEvents, onEnd: () => void) {
    this.#events = events;
    this.#onEnd = onEnd;
  }

  start(socket: Socket): void {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen === true && !this.#isOver;
  }

  /** The engine does not say how many. */
  get waitingBytes(): number {
    return this.#socket?.isFull === true ? Number.POSITIVE_INFINITY : 0;
  }

  send(text: string, onSent?: () => void): void {
    if (onSent === undefined) this.#socket?.send(text);
    else this.#socket?.sendTracked(text, onSent);
  }

  end(reason: string): void {
    this.#isOver = true;
    this.#socket?.end(CLOSE_CODES.policy, reason);
  }

  onMessage(bytes: Buffer): void {
    if (!this.#isOver) this.#events.onFrame(bytes);
  }

  onControlFrame(): void {
    if (!this.#isOver) this.#events.onControl();
  }

  onDrained(): void {
    // A message that did not fit was not sent.
  }

  onClosed(): void {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#onEnd();
    if (!wasOver) this.#events.onEnd(down('disconnected'));
  }
}
