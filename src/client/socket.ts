/** The service's WebSocket API as an object: subscriptions that survive lost connections, commands with results. */
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import { ENVIRONMENT, type Environment } from './environment.ts';
import type { ClientError } from './errors.ts';
import { HostCalls } from './host-calls.ts';
import { LastingSocket } from './lasting-socket.ts';
import type { Feedback, Message, SocketEvents, Topic, WakeFeedback } from './messages.ts';
import { errorMessage } from './pending.ts';
import type { Processes } from './processes.ts';
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
  /** Reads recorded values. Rejects with FEATURE_DISABLED where nothing is recorded. */
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
  return new ServiceSocket(options, environment, path);
}

class ServiceSocket extends LastingSocket<SocketEvents> implements HostSocket {
  readonly processes: Processes;
  readonly #subscriber: Subscriber;
  readonly #calls: HostCalls;
  #lastStats: unknown;
  /** A new connection starts with the latest sample, which may have arrived over the previous one. */
  #mayRepeat = false;

  constructor(options: SocketOptions, environment: Environment, path: string) {
    super(options, environment, path);
    this.#calls = new HostCalls(this.asker);
    this.processes = this.#calls.processes;
    this.#subscriber = new Subscriber(this.requests, (error) => this.refuse(error));
    void this.start(options.signal);
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

  protected override ended(error: ClientError): void {
    this.#subscriber.close(error);
  }

  protected override opened(data: unknown): void {
    this.#mayRepeat = this.#lastStats !== undefined;
    void this.#subscriber.open();
    this.listeners.emit('connected', data);
  }

  protected override received({ type, data }: Message): void {
    if (type === 'system_stats') {
      const isRepeated = this.#mayRepeat && JSON.stringify(data) === JSON.stringify(this.#lastStats);
      this.#mayRepeat = false;
      this.#lastStats = data;
      if (isRepeated) return;
    }
    this.listeners.emit(type, type === 'error' ? errorMessage(data) : data);
  }
}
