/** The base of both kinds of sockets: a WebSocket that is opened again after each loss, its requests and its listeners. */
import { Asker } from './calls.ts';
import { Connection, type SocketConstructor } from './connection.ts';
import { type Environment, onAborted } from './environment.ts';
import { ClientError, unreachable } from './errors.ts';
import { Listeners } from './listeners.ts';
import type { Message } from './messages.ts';
import { Requests } from './pending.ts';
import { loadPinned, withPinned } from './pin.ts';
import { addressOf } from './refusals.ts';
import type { AskOptions, SocketOptions } from './socket-options.ts';
import type { ConnectionState } from './state.ts';

interface SocketSource {
  readonly WebSocket: SocketConstructor;
}

/** Makes WebSockets with these options, and requests with a pin. Throws as `connect`. */
function sourceOf({ url, pin, WebSocket: given }: SocketOptions) {
  addressOf(url, '');
  const pinned = loadPinned(pin, url);
  // Not every runtime has it, even where the types declare it.
  const WebSocket = given ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
  const source: SocketSource | Promise<SocketSource> | undefined = pinned ?? (WebSocket && { WebSocket });
  if (source === undefined)
    throw new ClientError(
      'no_websocket',
      'this runtime has no WebSocket (Node has it from version 22); pass the one from the package ws: connect({ url, WebSocket })',
    );
  return { source, pinned };
}

/** `Events`: the value of each event of `on`, `state` and `error` among them. */
export abstract class LastingSocket<Events> {
  protected readonly requests: Requests;
  protected readonly asker: Asker;
  protected readonly listeners = new Listeners<Events>();
  readonly #environment: Environment;
  readonly #connection: Connection;
  readonly #source: SocketSource | Promise<SocketSource>;
  #WebSocket: SocketConstructor | undefined;
  #stopListening: () => void = () => undefined;
  #state: ConnectionState = { state: 'connecting' };

  constructor(options: SocketOptions, around: Environment, path: string) {
    const { url, key, timeoutMs } = options;
    const { source, pinned } = sourceOf(options);
    const environment = withPinned(around, pinned);
    this.#source = source;
    this.#environment = environment;
    this.requests = new Requests(environment, (text) => this.#connection.send(text));
    this.asker = new Asker(this.requests, timeoutMs);
    this.#connection = new Connection({
      url,
      path,
      key,
      // `start` sets it before the connection begins.
      createSocket: (address) => new (this.#WebSocket as SocketConstructor)(address),
      environment,
      onState: (state) => this.#setState(state),
      onOpen: (data) => {
        this.requests.open();
        this.opened(data);
      },
      onMessage: (message) => {
        if (!this.requests.receive(message)) this.received(message);
      },
      onLost: (error) => this.requests.lose(error),
    });
  }

  /** The connection is open; the requests that waited for it are sent. */
  protected abstract opened(data: unknown): void;
  /** Takes a message that is the answer to no request. */
  protected abstract received(message: Message): void;
  /** There will be no further connection. */
  protected ended(_error: ClientError): void {}

  get state(): ConnectionState {
    return this.#state;
  }

  on<E extends keyof Events & string>(type: E, listener: (value: Events[E]) => void): () => void {
    return this.listeners.add(type, listener);
  }

  async ping(options: AskOptions = {}): Promise<number> {
    const sentAt = this.#environment.now();
    await this.asker.question('ping', {}, 'pong', options);
    return this.#environment.now() - sentAt;
  }

  close(): void {
    this.#connection.close();
  }

  /** Connects; derived classes call it when they are ready. */
  protected async start(signal: AbortSignal | undefined): Promise<void> {
    this.#stopListening = onAborted(signal, () => this.close());
    if (signal?.aborted === true) return this.close();
    try {
      // In a later turn, so that the caller can add its listeners first.
      this.#WebSocket = (await this.#source).WebSocket;
    } catch (error) {
      return this.#connection.close(unreachable(error));
    }
    this.#connection.start();
  }

  /** Reports a refusal that answers no request of the caller. */
  protected refuse({ code, message, details }: ClientError): void {
    this.listeners.emit('error', { code, message, details });
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    if (state.state !== 'closed') {
      this.listeners.emit('state', state);
      return;
    }
    const error = state.error ?? new ClientError('closed', 'the socket was closed');
    this.#stopListening();
    this.requests.close(error);
    this.ended(error);
    this.listeners.emit('state', state);
    this.listeners.clear();
  }
}
