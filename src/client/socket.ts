/** The service's WebSocket API as an object: subscriptions that last, commands that are answered. */
import { Asker } from './calls.ts';
import { Connection, type SocketConstructor } from './connection.ts';
import { ENVIRONMENT, type Environment, heed } from './environment.ts';
import { ClientError } from './errors.ts';
import { Listeners } from './listeners.ts';
import type { Feedback, Message, SocketEvents, Topic } from './messages.ts';
import { Requests } from './pending.ts';
import { Processes } from './processes.ts';
import { addressOf } from './refusals.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';
import type {
  AskOptions,
  GetOptions,
  MediaAction,
  MediaOptions,
  PowerAction,
  PowerOptions,
  SocketOptions,
  SubscribeOptions,
} from './socket-options.ts';
import type { ConnectionState } from './state.ts';
import { type Subscribed, Subscriber } from './subscriber.ts';

export interface HostSocket {
  readonly state: ConnectionState;
  readonly processes: Processes;
  /** Calls `listener` on each such event; returns what takes it back. After `closed` nothing is told any more. */
  on<E extends keyof SocketEvents>(type: E, listener: (value: SocketEvents[E]) => void): () => void;
  /**
   * Subscribes, for as long as the socket lives: after a loss it is asked for again. Waits for the connection however
   * long that takes. Resolves with all that is subscribed to; rejects when the service refuses.
   */
  subscribe(topics: readonly Topic[], options?: SubscribeOptions): Promise<Subscribed>;
  /** Without topics: from all. */
  unsubscribe(topics?: readonly Topic[], options?: Pick<SubscribeOptions, 'signal'>): Promise<Subscribed>;
  /** The present state of `topics`, once. */
  get(topics: readonly Topic[], options?: GetOptions): Promise<Snapshot>;
  media(action: MediaAction, options?: MediaOptions): Promise<Feedback>;
  power(action: PowerAction, options?: PowerOptions): Promise<Feedback>;
  /** Milliseconds to the service and back. */
  ping(options?: AskOptions): Promise<number>;
  /** For good; what is waited for rejects with `closed`. */
  close(): void;
}

/**
 * Connects to `/api/ws` of the service at `url`, again and again after each loss, until it is closed or refused (401,
 * 403). Its promises reject with a ClientError, or with the reason of the signal they were given. No request is ever
 * sent twice, but for subscriptions: a command that was under way when the connection broke rejects with
 * `connection_lost`, one that is given while there is none with `not_connected`. Throws a TypeError when `url` is none,
 * a ClientError `no_websocket` where there is no WebSocket.
 */
export function connect(options: SocketOptions): HostSocket {
  return connectIn(options, ENVIRONMENT);
}

/** The same in surroundings of a test's own. */
export function connectIn(options: SocketOptions, environment: Environment): HostSocket {
  // Not every program has it, whatever its types say.
  const WebSocket = options.WebSocket ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
  if (WebSocket === undefined)
    throw new ClientError(
      'no_websocket',
      'there is no WebSocket here (Node has one from 22 on): pass that of the package ws, connect({ url, WebSocket })',
    );
  addressOf(options.url, '');
  return new LastingSocket(options, WebSocket, environment);
}

class LastingSocket implements HostSocket {
  readonly processes: Processes;
  readonly #letGo: () => void;
  readonly #environment: Environment;
  readonly #connection: Connection;
  readonly #requests: Requests;
  readonly #subscriber: Subscriber;
  readonly #asker: Asker;
  readonly #listeners = new Listeners();
  #state: ConnectionState = { state: 'connecting' };
  #lastStats: unknown;
  /** A new connection begins with the latest sample, which may have come over the one before. */
  #mayRepeat = false;

  constructor(options: SocketOptions, WebSocket: SocketConstructor, environment: Environment) {
    const { url, key, timeoutMs, signal } = options;
    this.#environment = environment;
    this.#requests = new Requests(environment, (text) => this.#connection.send(text));
    this.#asker = new Asker(this.#requests, timeoutMs);
    this.processes = new Processes(this.#asker);
    this.#subscriber = new Subscriber(this.#requests, ({ code, message, details }) =>
      this.#listeners.tell('error', { code, message, details }),
    );
    this.#connection = new Connection({
      url,
      key,
      WebSocket,
      environment,
      onState: (state) => this.#tell(state),
      onOpen: (data) => this.#open(data),
      onMessage: (message) => this.#hear(message),
      onLost: (error) => this.#requests.lose(error),
    });
    this.#letGo = heed(signal, () => this.close());
    if (signal?.aborted === true) this.close();
    // Whoever connects can say first what to listen for.
    else queueMicrotask(() => this.#connection.start());
  }

  get state(): ConnectionState {
    return this.#state;
  }

  on<E extends keyof SocketEvents>(type: E, listener: (value: SocketEvents[E]) => void): () => void {
    return this.#listeners.add(type, listener);
  }

  subscribe(topics: readonly Topic[], options: SubscribeOptions = {}): Promise<Subscribed> {
    const { mode: kind = 'replace', detail, signal } = options;
    return this.#subscriber.change({ kind, topics, detail }, signal);
  }

  unsubscribe(
    topics?: readonly Topic[],
    { signal }: Pick<SubscribeOptions, 'signal'> = {},
  ): Promise<Subscribed> {
    return this.#subscriber.change({ kind: 'remove', topics, detail: undefined }, signal);
  }

  get(topics: readonly Topic[], { detail, ...options }: GetOptions = {}): Promise<Snapshot> {
    if (topics.length === 0) return Promise.resolve({});
    return this.#asker.ask('get', { topics, detail }, options, snapshotOf(topics));
  }

  media(action: MediaAction, { value, player, ...options }: MediaOptions = {}): Promise<Feedback> {
    return this.#asker.command('media', { action, value, player }, options);
  }

  power(action: PowerAction, { delay, force, ...options }: PowerOptions = {}): Promise<Feedback> {
    return this.#asker.command('power', { action, delay, force }, options, (delay ?? 0) * 1000);
  }

  async ping(options: AskOptions = {}): Promise<number> {
    const sentAt = this.#environment.now();
    await this.#asker.question('ping', {}, 'pong', options);
    return this.#environment.now() - sentAt;
  }

  close(): void {
    this.#connection.close();
  }

  #tell(state: ConnectionState): void {
    this.#state = state;
    if (state.state === 'closed') this.#end(state.error);
    this.#listeners.tell('state', state);
    if (state.state === 'closed') this.#listeners.clear();
  }

  #end(error = new ClientError('closed', 'the socket was closed')): void {
    this.#letGo();
    this.#requests.close(error);
    this.#subscriber.close(error);
  }

  #open(data: unknown): void {
    this.#mayRepeat = this.#lastStats !== undefined;
    this.#requests.open();
    void this.#subscriber.open();
    this.#listeners.tell('connected', data);
  }

  #hear(message: Message): void {
    if (this.#requests.hear(message)) return;
    const { type, data } = message;
    if (type === 'system_stats') {
      const isRepeated = this.#mayRepeat && JSON.stringify(data) === JSON.stringify(this.#lastStats);
      this.#mayRepeat = false;
      this.#lastStats = data;
      if (isRepeated) return;
    }
    this.#listeners.tell(type, data);
  }
}
