/** The service's WebSocket API as an object: subscriptions that survive lost connections, commands with results. */
import type { HostCalls } from './calls.ts';
import { ENVIRONMENT, type Environment } from './environment.ts';
import { LastingSocket } from './lasting-socket.ts';
import type { Message, SocketEvents, Topic } from './messages.ts';
import { errorMessage } from './pending.ts';
import type { SocketOptions, SubscribeOptions } from './socket-options.ts';
import type { Subscribed } from './subscriber.ts';

export interface HostSocket
  extends HostCalls,
    Pick<ServiceSocket, 'state' | 'on' | 'subscribe' | 'unsubscribe' | 'ping' | 'close'> {}

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
  const socket = new ServiceSocket(options, environment, path);
  return Object.assign(socket, socket.host());
}

class ServiceSocket extends LastingSocket<SocketEvents> {
  #lastStats: unknown;
  /** A new connection starts with the latest sample, which may have arrived over the previous one. */
  #mayRepeat = false;

  /**
   * Subscribes for the life of the socket: after a loss it subscribes again. Waits for the connection without a time
   * limit. Resolves with all subscribed topics; rejects when the service refuses.
   */
  subscribe(topics: readonly Topic[], options: SubscribeOptions = {}): Promise<Subscribed> {
    const { mode: kind = 'replace', detail, signal } = options;
    return this.subscriber.change([undefined], { kind, topics, detail }, signal);
  }

  /** Default: all topics. */
  unsubscribe(
    topics?: readonly Topic[],
    { signal }: Pick<SubscribeOptions, 'signal'> = {},
  ): Promise<Subscribed> {
    return this.subscriber.change([undefined], { kind: 'remove', topics }, signal);
  }

  protected override connected(data: unknown): void {
    this.#mayRepeat = this.#lastStats !== undefined;
    this.subscriber.open();
    this.emit('connected', data);
  }

  protected override received({ type, data }: Message): void {
    if (type === 'system_stats') {
      const isRepeated = this.#mayRepeat && JSON.stringify(data) === JSON.stringify(this.#lastStats);
      this.#mayRepeat = false;
      this.#lastStats = data;
      if (isRepeated) return;
    }
    this.emit(type, type === 'error' ? errorMessage(data) : data);
  }
}
