/** A carrier as the WebSocket of a session: for connections that this machine has dialled, and those that go over a broker. */
import { QUOTAS } from '../fairness/limits.ts';
import type { Quota } from '../fairness/quota.ts';
import {
  CLOSE_CODES,
  type CloseCode,
  type Delivery,
  type Socket,
  type SocketEvents,
} from '../http/engine.ts';
import { FULL_BYTES } from '../http/engine-socket.ts';
import type { Carrier, CarrierEvents } from './carrier.ts';

/** The carried sockets by the topics that they joined. */
export class CarriedTopics {
  readonly #members = new Map<string, Set<CarriedSocket>>();

  join(topic: string, socket: CarriedSocket): void {
    const members = this.#members.get(topic) ?? new Set();
    this.#members.set(topic, members.add(socket));
  }

  leave(topic: string, socket: CarriedSocket): void {
    const members = this.#members.get(topic);
    members?.delete(socket);
    if (members?.size === 0) this.#members.delete(topic);
  }

  /** Sends the text message `bytes` to the sockets that joined `topic`; those that are full miss it. */
  publish(topic: string, bytes: Buffer): void {
    const members = this.#members.get(topic);
    if (members === undefined) return;
    const text = bytes.toString();
    for (const socket of [...members]) if (!socket.isFull) socket.send(text);
  }
}

export interface CarriedSocketOptions {
  /** The address to which kept bytes are charged. */
  readonly address: string;
  readonly quota: Pick<Quota, 'set' | 'release'> | undefined;
  readonly topics: CarriedTopics;
}

export class CarriedSocket implements Socket, CarrierEvents {
  readonly address: string;
  readonly isStream = false;
  readonly #carrier: Carrier;
  readonly #events: SocketEvents;
  readonly #options: CarriedSocketOptions;
  readonly #joined = new Set<string>();
  readonly #deliveries = new Set<(delivery: Delivery) => void>();
  #wasFull = false;
  #isOver = false;

  /** `events`: of the session. Those of the carrier are this object's own. */
  constructor(carrier: Carrier, events: SocketEvents, options: CarriedSocketOptions) {
    this.address = options.address;
    this.#carrier = carrier;
    this.#events = events;
    this.#options = options;
  }

  get isOpen(): boolean {
    return !this.#isOver && this.#carrier.isOpen;
  }

  get isFull(): boolean {
    return this.#carrier.waitingBytes > FULL_BYTES;
  }

  send(text: string): void {
    this.sendTracked(text, () => undefined);
  }

  sendTracked(text: string, onDelivered: (delivery: Delivery) => void): void {
    if (!this.isOpen) {
      onDelivered('closed');
      return;
    }
    if (this.isFull && this.#carrier.waitingBytes + text.length > QUOTAS.hubAnswers.maxBytes) {
      this.end(CLOSE_CODES.policy, 'too slow for its answers');
      onDelivered('closed');
      return;
    }
    this.#deliveries.add(onDelivered);
    this.#carrier.send(text, () => {
      if (!this.#deliveries.delete(onDelivered)) return;
      onDelivered('sent');
      this.#drain();
    });
    this.#wasFull ||= this.isFull;
    this.reportBuffered();
  }

  reportBuffered(): void {
    if (this.isOpen) this.#options.quota?.set(this, this.#carrier.waitingBytes);
  }

  cork(body: () => void): void {
    if (this.isOpen) body();
  }

  join(topic: string): void {
    if (!this.isOpen) return;
    this.#joined.add(topic);
    this.#options.topics.join(topic, this);
  }

  leave(topic: string): void {
    this.#joined.delete(topic);
    this.#options.topics.leave(topic, this);
  }

  end(_code: CloseCode, reason: string): void {
    if (this.#isOver) return;
    this.#finish();
    this.#carrier.end(reason);
  }

  cut(): void {
    this.end(CLOSE_CODES.policy, 'this machine no longer serves it');
  }

  onFrame(bytes: Buffer): void {
    if (this.isOpen) this.#events.onMessage(bytes, false);
  }

  onControl(): void {
    if (this.isOpen) this.#events.onControlFrame();
  }

  onEnd(): void {
    if (!this.#isOver) this.#finish();
  }

  #drain(): void {
    this.reportBuffered();
    if (!this.#wasFull || this.isFull) return;
    this.#wasFull = false;
    if (this.isOpen) this.#events.onDrained();
  }

  #finish(): void {
    this.#isOver = true;
    this.#options.quota?.release(this);
    for (const topic of [...this.#joined]) this.leave(topic);
    const deliveries = [...this.#deliveries];
    this.#deliveries.clear();
    for (const onDelivered of deliveries) onDelivered('closed');
    this.#events.onClosed();
  }
}
