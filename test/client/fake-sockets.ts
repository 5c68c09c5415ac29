/** Fake WebSockets whose messages are answered by the test. */
import type { SocketConstructor, SocketEvent, SocketLike } from '#src/client/socket-options.js';

interface Sent {
  readonly op: string;
  readonly id?: number | string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export class FakeSocket implements SocketLike {
  readonly url: URL;
  readonly sent: Sent[] = [];
  isClosed = false;
  readonly #listeners = new Map<string, ((event: SocketEvent) => void)[]>();

  constructor(url: string) {
    this.url = new URL(url);
  }

  addEventListener(type: string, listener: (event: SocketEvent) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  send(text: string): void {
    // The client's messages; the tests check their shape.
    this.sent.push(JSON.parse(text) as Sent);
  }

  close(): void {
    this.isClosed = true;
  }

  /** The newest request that was sent. */
  get last(): Sent | undefined {
    return this.sent.at(-1);
  }

  emit(type: string, event: SocketEvent = {}): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }

  say(type: string, data: unknown, id?: number | string): void {
    this.emit('message', { data: JSON.stringify({ type, id, data }) });
  }

  greet(): void {
    this.emit('open');
    this.say('connected', { version: '0.0.0-test', protocol: 2, features: {} });
  }

  /** Answers the newest request. */
  answer(type: string, data: unknown): void {
    this.say(type, data, this.last?.id);
  }

  /** The connection breaks. */
  break(code = 1006): void {
    this.emit('error');
    this.emit('close', { code });
  }
}

/** A constructor, and what it has made. */
export function fakeSockets(): {
  readonly WebSocket: SocketConstructor;
  readonly made: readonly FakeSocket[];
} {
  const made: FakeSocket[] = [];
  class Made extends FakeSocket {
    constructor(url: string) {
      super(url);
      made.push(this);
    }
  }
  return { WebSocket: Made, made };
}
