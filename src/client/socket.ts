/** The WebSocket API as an object: subscriptions that survive lost connections, commands with results. */
import { callsOf, type HostCalls } from './calls.ts';
import { callOut, ENVIRONMENT, type Environment } from './environment.ts';
import { badAnswer, ClientError, tooLarge, unreachable } from './errors.ts';
import { addressOf, keyHeader, refusalOf } from './http.ts';
import { type ConnectionState, Lasting } from './lasting.ts';
import { MAX_ANSWER } from './limits.ts';
import { type Message, parseMessage, type SocketEvents, type Topic } from './messages.ts';
import { answered, errorIn, Requests } from './pending.ts';
import { loadPinned, withPinned } from './pin.ts';
import type {
  AskOptions,
  SocketConstructor,
  SocketLike,
  SocketOptions,
  SubscribeOptions,
} from './socket-options.ts';
import { type Subscribed, Subscriber } from './subscriber.ts';

type Listener = (value: unknown) => void;

const PROTOCOL = 2;

/** Whether the package ws refused a message for the limits in MESSAGE_LIMITS. */
const isOverLimit = (error: unknown) =>
  /^WS_ERR_(?:UNSUPPORTED_MESSAGE|TOO_MANY)/.test(String(Object(error).code));

/** The base of the sockets of a service and of a hub. `Events`: the value of each event of `on`. */
export abstract class LastingSocket<Events> extends Lasting {
  protected readonly requests: Requests;
  protected readonly subscriber: Subscriber;
  readonly #options: SocketOptions;
  readonly #path: string;
  readonly #listeners = new Map<string, Set<Listener>>();
  #WebSocket: SocketConstructor | undefined;
  /** The current socket; events of earlier ones are ignored. */
  #socket: SocketLike | undefined;
  #probe: AbortController | undefined;

  /** `path`: below the address of the service. */
  constructor(options: SocketOptions, environment: Environment, path: string) {
    const { url, pin, signal, timeoutMs } = options;
    addressOf(url, path);
    const pinned = loadPinned(pin, url);
    super(withPinned(environment, pinned));
    this.#options = options;
    this.#path = path;
    this.requests = new Requests(this.environment, timeoutMs);
    this.subscriber = new Subscriber(this.requests, (error) => this.refuse(error));
    // Not every runtime has it, even where the types declare it.
    this.#WebSocket = options.WebSocket ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
    if (pinned === undefined && this.#WebSocket === undefined)
      throw new ClientError(
        'no_websocket',
        'this runtime has no WebSocket (Node has it from version 22); pass the one from the package ws: connect({ url, WebSocket })',
      );
    const ready = pinned?.then(({ WebSocket }) => {
      this.#WebSocket = WebSocket;
    });
    void this.start(signal, ready);
  }

  /** The service's `connected` message has arrived, with `data`; the requests that waited for it are sent. */
  protected connected(data: unknown): void {
    this.subscriber.open();
    this.emit('connected', data);
  }

  /** Takes a message that is the answer to no request, and no error. */
  protected abstract received(message: Message): void;

  /** Calls `listener` on each event of `type`, until `closed`; returns a function that removes it. */
  on<E extends keyof Events & string>(type: E, listener: (value: Events[E]) => void): () => void {
    const all = this.#listeners.get(type) ?? new Set();
    // `emit` is called with the value that belongs to the type.
    this.#listeners.set(type, all.add(listener as Listener));
    return () => void all.delete(listener as Listener); // As above.
  }

  /** The round-trip time to the service or the hub, in milliseconds. */
  async ping(options: AskOptions = {}): Promise<number> {
    const sentAt = this.environment.now();
    await this.requests.start({ op: 'ping', data: {}, options, take: answered('pong') });
    return this.environment.now() - sentAt;
  }

  /** Questions and commands: of the machine `id` of a hub, or of the service. */
  host(id?: string): HostCalls {
    return callsOf(this.requests, id);
  }

  /** `value` has the type that Events has for `type`; an unknown type has no listeners. */
  protected emit(type: string, value: unknown): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) callOut(listener, value);
  }

  /** Reports an error that answers no request of the caller. `host`: the machine of a hub that it is about. */
  protected refuse({ code, message, details }: ClientError, host?: unknown): void {
    this.emit('error', { code, message, details, ...(host !== undefined && { host }) });
  }

  protected override onState(state: ConnectionState): void {
    if (state.state === 'closed') {
      const error = state.error ?? new ClientError('closed', 'the socket was closed');
      this.requests.close(error);
      this.subscriber.close(error);
    }
    this.emit('state', state);
    if (state.state === 'closed') this.#listeners.clear();
  }

  protected override onSilence(): void {
    // WebSocket's own ping frames are invisible to a program, so it sends a message to get an answer.
    this.#socket?.send('{"op":"ping"}');
  }

  protected override attempt(): void {
    const { url, key } = this.#options;
    const address = addressOf(url, this.#path);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    // Browsers cannot send headers with an upgrade, so for this path only the service accepts the key in the query.
    if (key !== undefined) address.searchParams.set('api_key', key);
    try {
      // The constructor has checked that there is one.
      this.#listen(new (this.#WebSocket as SocketConstructor)(address.href));
    } catch (error) {
      this.drop(unreachable(error));
    }
  }

  protected override drop(error?: ClientError): void {
    const socket = this.#socket;
    const wasOpen = this.requests.isOpen;
    this.#socket = undefined;
    this.#probe?.abort();
    // The peer decides when closing completes, so nothing waits for it.
    socket?.close();
    if (error === undefined) return;
    this.requests.lose(error);
    if (wasOpen) this.lost(error);
    else void this.#findReason(error).then((reason) => this.lost(reason));
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    let isLeaving = false;
    socket.addEventListener('message', ({ data }) => {
      if (!isCurrent()) return;
      if (typeof data === 'string' && data.length > MAX_ANSWER) return this.drop(tooLarge('a message'));
      const message = parseMessage(data);
      if (message === undefined) return this.drop(badAnswer());
      if (message.type === 'closing') isLeaving = true;
      this.heard();
      if (!this.requests.isOpen) this.#greet(message, socket);
      else if (this.requests.receive(message)) return;
      else if (message.type === 'error') this.refuse(errorIn(message.data), message.host);
      else this.received(message);
    });
    socket.addEventListener('close', ({ code }) => {
      if (!isCurrent()) return;
      const ended = new ClientError('ended', 'the service closed the connection');
      this.drop(isLeaving ? ended : new ClientError('connection_lost', `the connection was lost (${code})`));
    });
    // Some implementations only emit this when they cannot connect.
    socket.addEventListener('error', ({ error }) => {
      if (!isCurrent()) return;
      if (isOverLimit(error)) this.drop(tooLarge('a message'));
      // The package ws has the reason; browsers have none.
      else if (!this.requests.isOpen) this.drop(unreachable(error ?? null));
    });
  }

  #greet({ type, data }: Message, socket: SocketLike): void {
    if (type !== 'connected') return;
    const { protocol } = (data ?? {}) as { readonly protocol?: unknown }; // Any object.
    if (protocol === PROTOCOL) this.opened();
    else this.end(new ClientError('bad_answer', `unsupported protocol ${JSON.stringify(protocol)}`));
    // A listener of `state` may have closed it.
    if (this.isClosed) return;
    this.requests.open((text) => socket.send(text));
    this.connected(data);
  }

  /** Why the WebSocket failed. WebSocket does not report it, so a plain request asks. Never rejects. */
  async #findReason(error: ClientError): Promise<ClientError> {
    const probe = new AbortController();
    this.#probe = probe;
    this.arm(() => probe.abort(), this.environment.timing.connectMs);
    try {
      const response = await this.environment.fetch(addressOf(this.#options.url, this.#path).href, {
        headers: keyHeader(this.#options.key),
        signal: probe.signal,
      });
      // 426 means that the service would have accepted an upgrade.
      return response.status === 426 ? error : await refusalOf(response);
    } catch (reason) {
      return unreachable(reason, error);
    } finally {
      probe.abort();
    }
  }
}

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
    super.connected(data);
  }

  protected override received({ type, data }: Message): void {
    if (type === 'system_stats') {
      const isRepeated = this.#mayRepeat && JSON.stringify(data) === JSON.stringify(this.#lastStats);
      this.#mayRepeat = false;
      this.#lastStats = data;
      if (isRepeated) return;
    }
    this.emit(type, data);
  }
}
