/** The service's WebSocket API as an object: subscriptions that survive lost connections, commands with results. */
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import { Asker } from './calls.ts';
import { Connection, type SocketConstructor, type SocketLike } from './connection.ts';
import { ENVIRONMENT, type Environment, onAborted } from './environment.ts';
import { ClientError, unreachable } from './errors.ts';
import { HostCalls } from './host-calls.ts';
import { Listeners } from './listeners.ts';
import type { Feedback, Message, SocketEvents, Topic, WakeFeedback } from './messages.ts';
import { errorMessage, Requests } from './pending.ts';
import { loadPinned, withPinned } from './pin.ts';
import type { Processes } from './processes.ts';
import { addressOf } from './refusals.ts';
import type { Snapshot } from './snapshot.ts';
import type {
  AskOptions,
  CommandOptions,
  GetOptions,
  HistoryOptions,
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
  /** Calls `listener` on each event of `type`, until `closed`; returns a function that removes it. */
  on<E extends keyof SocketEvents>(type: E, listener: (value: SocketEvents[E]) => void): () => void;
  /**
   * Subscribes for the life of the socket: after a loss it subscribes again. Waits for the connection without a time
   * limit. Resolves with all subscribed topics; rejects when the service refuses.
   */
  subscribe(topics: readonly Topic[], options?: SubscribeOptions): Promise<Subscribed>;
  /** Default: all topics. */
  unsubscribe(topics?: readonly Topic[], options?: Pick<SubscribeOptions, 'signal'>): Promise<Subscribed>;
  /** The present state of `topics`, once. */
  get(topics: readonly Topic[], options?: GetOptions): Promise<Snapshot>;
  media(action: MediaAction, options?: MediaOptions): Promise<Feedback>;
  power(action: PowerAction, options?: PowerOptions): Promise<Feedback>;
  /** Wakes another machine that is listed in the service's configuration. */
  wake(name: string, options?: CommandOptions): Promise<WakeFeedback>;
  /** What was measured before now. Rejects with FEATURE_DISABLED where nothing is recorded. */
  history(options?: HistoryOptions): Promise<HistoryPayload>;
  /** Which programs used most at a moment: Unix seconds, or negative: before now. */
  processesAt(at: number, options?: AskOptions): Promise<ProcessHistoryPayload>;
  /** The round-trip time to the service, in milliseconds. */
  ping(options?: AskOptions): Promise<number>;
  /** Closes the socket for good; pending promises reject with `closed`. */
  close(): void;
}

/**
 * Connects to `/api/ws` of the service at `url`, and again after each loss, until it is closed or refused (401, 403).
 * Promises reject with a ClientError, or with the reason of the signal they were given. No request except a subscription
 * is ever sent twice: a command that was pending when the connection was lost rejects with `connection_lost`, and one
 * that is given while there is no connection rejects with `not_connected`. Throws a TypeError when `url` is invalid, and
 * a ClientError `no_websocket` when there is no WebSocket.
 */
export function connect(options: SocketOptions): HostSocket {
  return connectIn(options, ENVIRONMENT);
}

/** The same with an environment that tests provide. `path`: of another socket. */
export function connectIn(options: SocketOptions, environment: Environment, path = 'api/ws'): HostSocket {
  const { source, pinned } = sourceOf(options);
  return new LastingSocket(options, source, withPinned(environment, pinned), path);
}

/** What makes WebSockets with these options, and requests with a pin. Throws as `connect`. */
export function sourceOf({ url, pin, WebSocket: given }: SocketOptions) {
  addressOf(url, '');
  const pinned = loadPinned(pin, url);
  // Not every runtime has it, even where the types declare it.
  const WebSocket = given ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
  const source: SocketSource | Promise<SocketSource> | undefined = pinned ?? (WebSocket && { WebSocket });
  if (source === undefined)
    throw new ClientError(
      'no_websocket',
      'this runtime has no WebSocket (Node has one since version 22); pass the one of the package ws: connect({ url, WebSocket })',
    );
  return { source, pinned };
}

export interface SocketSource {
  readonly WebSocket: SocketConstructor;
}

class LastingSocket implements HostSocket {
  readonly processes: Processes;
  readonly #stopListening: () => void;
  readonly #environment: Environment;
  readonly #connection: Connection;
  readonly #requests: Requests;
  readonly #subscriber: Subscriber;
  readonly #asker: Asker;
  readonly #calls: HostCalls;
  readonly #listeners = new Listeners<SocketEvents>();
  #state: ConnectionState = { state: 'connecting' };
  #lastStats: unknown;
  /** A new connection starts with the latest sample, which may have arrived over the previous one. */
  #mayRepeat = false;

  constructor(
    options: SocketOptions,
    source: SocketSource | Promise<SocketSource>,
    environment: Environment,
    path: string,
  ) {
    const { url, key, timeoutMs, signal } = options;
    this.#environment = environment;
    this.#requests = new Requests(environment, (text) => this.#connection.send(text));
    this.#asker = new Asker(this.#requests, timeoutMs);
    this.#calls = new HostCalls(this.#asker);
    this.processes = this.#calls.processes;
    this.#subscriber = new Subscriber(this.#requests, ({ code, message, details }) =>
      this.#listeners.emit('error', { code, message, details }),
    );
    let createSocket: (url: string) => SocketLike = () => {
      throw new Error('not loaded');
    };
    this.#connection = new Connection({
      url,
      path,
      key,
      createSocket: (address) => createSocket(address),
      environment,
      onState: (state) => this.#setState(state),
      onOpen: (data) => this.#open(data),
      onMessage: (message) => this.#receive(message),
      onLost: (error) => this.#requests.lose(error),
    });
    this.#stopListening = onAborted(signal, () => this.close());
    if (signal?.aborted === true) this.close();
    else
      void this.#start(source, (WebSocket) => {
        createSocket = (address) => new WebSocket(address);
      });
  }

  /** In a later turn, so that the caller can add its listeners first. */
  async #start(
    source: SocketSource | Promise<SocketSource>,
    use: (WebSocket: SocketConstructor) => void,
  ): Promise<void> {
    try {
      use((await source).WebSocket);
    } catch (error) {
      return this.#connection.close(unreachable(error));
    }
    this.#connection.start();
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

  get(topics: readonly Topic[], options?: GetOptions): Promise<Snapshot> {
    return this.#calls.get(topics, options);
  }

  media(action: MediaAction, options?: MediaOptions): Promise<Feedback> {
    return this.#calls.media(action, options);
  }

  power(action: PowerAction, options?: PowerOptions): Promise<Feedback> {
    return this.#calls.power(action, options);
  }

  wake(name: string, options?: CommandOptions): Promise<WakeFeedback> {
    return this.#calls.wake(name, options);
  }

  history(options?: HistoryOptions): Promise<HistoryPayload> {
    return this.#calls.history(options);
  }

  processesAt(at: number, options?: AskOptions): Promise<ProcessHistoryPayload> {
    return this.#calls.processesAt(at, options);
  }

  async ping(options: AskOptions = {}): Promise<number> {
    const sentAt = this.#environment.now();
    await this.#asker.question('ping', {}, 'pong', options);
    return this.#environment.now() - sentAt;
  }

  close(): void {
    this.#connection.close();
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    if (state.state === 'closed') this.#end(state.error);
    this.#listeners.emit('state', state);
    if (state.state === 'closed') this.#listeners.clear();
  }

  #end(error = new ClientError('closed', 'the socket was closed')): void {
    this.#stopListening();
    this.#requests.close(error);
    this.#subscriber.close(error);
  }

  #open(data: unknown): void {
    this.#mayRepeat = this.#lastStats !== undefined;
    this.#requests.open();
    void this.#subscriber.open();
    this.#listeners.emit('connected', data);
  }

  #receive(message: Message): void {
    if (this.#requests.receive(message)) return;
    const { type, data } = message;
    if (type === 'system_stats') {
      const isRepeated = this.#mayRepeat && JSON.stringify(data) === JSON.stringify(this.#lastStats);
      this.#mayRepeat = false;
      this.#lastStats = data;
      if (isRepeated) return;
    }
    this.#listeners.emit(type, type === 'error' ? errorMessage(data) : data);
  }
}
