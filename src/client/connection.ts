/** Keeps a WebSocket to the service open: connects, watches it, and connects again after each loss. */
import { Backoff } from './backoff.ts';
import type { Environment } from './environment.ts';
import { badAnswer, ClientError, isRefusal, silent, tooLarge, unreachable } from './errors.ts';
import { MAX_ANSWER } from './limits.ts';
import { type Message, parseMessage } from './messages.ts';
import { addressOf, keyHeader, refusalOf } from './refusals.ts';
import type { ConnectionState } from './state.ts';
import { MAX_SILENT_TICKS, Watchdog } from './watchdog.ts';

/** The part of WebSocket that is used; the browser's, Node 22's and that of the package ws have it. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
}

/** Any event of a socket. */
export interface SocketEvent {
  readonly type?: string;
  readonly data?: unknown;
  readonly code?: number;
  /** The reason of an error, with the package ws. */
  readonly error?: unknown;
}

export type SocketConstructor = new (url: string) => SocketLike;

export interface ConnectionOptions {
  readonly url: string;
  /** Below `url`. */
  readonly path: string;
  readonly key: string | undefined;
  readonly createSocket: (url: string) => SocketLike;
  readonly environment: Environment;
  readonly onState: (state: ConnectionState) => void;
  /** Called with the data of the service's `connected` message. */
  readonly onOpen: (data: unknown) => void;
  readonly onMessage: (message: Message) => void;
  /** The connection is lost, and with it every answer that had not arrived; another connection will follow. */
  readonly onLost: (error: ClientError) => void;
}

const PROTOCOL = 2;

/** Whether the package ws refused a message for the limits in MESSAGE_LIMITS. */
const isOverLimit = (error: unknown) =>
  /^WS_ERR_(?:UNSUPPORTED_MESSAGE|TOO_MANY)/.test(String(Object(error).code));

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #backoff: Backoff;
  /** The current socket; events of earlier ones are ignored. */
  #socket: SocketLike | undefined;
  #isOpen = false;
  #isClosed = false;
  /** The time limit of an attempt, or the delay before the next. */
  #timer: unknown;
  #watchdog: Watchdog | undefined;
  #probe: AbortController | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.environment);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Starts an attempt to connect. */
  start(): void {
    if (this.#isClosed) return;
    const { environment, url, path, key, onState } = this.#options;
    const address = addressOf(url, path);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    // Browsers cannot send headers with an upgrade, so for this path only the service accepts the key in the query.
    if (key !== undefined) address.searchParams.set('api_key', key);
    onState({ state: 'connecting' });
    if (this.#isClosed) return;
    this.#timer = environment.setTimer(() => this.#lose(unreachable()), environment.timing.connectMs);
    try {
      this.#listen(this.#options.createSocket(address.href));
    } catch (error) {
      this.#lose(unreachable(error));
    }
  }

  /** Only while it is open. */
  send(text: string): void {
    this.#socket?.send(text);
  }

  /** Closes the connection for good. */
  close(error?: ClientError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dropSocket();
    this.#probe?.abort();
    this.#options.onState(error === undefined ? { state: 'closed' } : { state: 'closed', error });
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    let isLeaving = false;
    socket.addEventListener('message', ({ data }) => {
      if (!isCurrent()) return;
      if (typeof data === 'string' && data.length > MAX_ANSWER) return this.#lose(tooLarge('a message'));
      const message = parseMessage(data);
      if (message === undefined) return this.#lose(badAnswer());
      if (message.type === 'closing') isLeaving = true;
      this.#receive(message);
    });
    socket.addEventListener('close', ({ code }) => {
      if (!isCurrent()) return;
      const ended = new ClientError('ended', 'the service closed the connection');
      this.#lose(isLeaving ? ended : new ClientError('connection_lost', `the connection was lost (${code})`));
    });
    // Some implementations only emit this when they cannot connect.
    socket.addEventListener('error', ({ error }) => {
      if (!isCurrent()) return;
      if (isOverLimit(error)) this.#lose(tooLarge('a message'));
      // The package ws has the reason; browsers have none.
      else if (!this.#isOpen) this.#lose(unreachable(error ?? null));
    });
  }

  #receive(message: Message): void {
    this.#watchdog?.reset();
    if (this.#isOpen) this.#options.onMessage(message);
    else if (message.type === 'connected') this.#greet(message.data);
  }

  #greet(data: unknown): void {
    const { protocol } = (data ?? {}) as { readonly protocol?: unknown }; // Any object.
    if (protocol === PROTOCOL) this.#open(data);
    else this.close(new ClientError('bad_answer', `unsupported protocol ${JSON.stringify(protocol)}`));
  }

  #open(data: unknown): void {
    const { environment, onOpen, onState } = this.#options;
    environment.clearTimer(this.#timer);
    this.#isOpen = true;
    this.#backoff.opened();
    this.#watchdog = new Watchdog(environment, (ticks) => {
      if (ticks >= MAX_SILENT_TICKS) this.#lose(silent());
      // WebSocket's own ping frames are invisible to a program, so it sends a message to get an answer.
      else if (ticks > 0) this.send('{"op":"ping"}');
    });
    onState({ state: 'open' });
    if (this.#isOpen) onOpen(data);
  }

  /** Drops the current socket; its later events are ignored. */
  #dropSocket(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#options.environment.clearTimer(this.#timer);
    this.#watchdog?.stop();
    this.#watchdog = undefined;
    // The peer decides when closing completes, so nothing waits for it.
    socket?.close();
  }

  #lose(error: ClientError): void {
    const wasOpen = this.#isOpen;
    this.#dropSocket();
    this.#options.onLost(error);
    if (wasOpen) this.#wait(error);
    else void this.#findReason(error).then((reason) => this.#wait(reason));
  }

  /** Why the WebSocket failed. WebSocket does not report it, so a plain request asks. Never rejects. */
  async #findReason(error: ClientError): Promise<ClientError> {
    const { url, path, key, environment } = this.#options;
    const probe = new AbortController();
    this.#probe = probe;
    const timer = environment.setTimer(() => probe.abort(), environment.timing.connectMs);
    try {
      const response = await environment.fetch(addressOf(url, path).href, {
        headers: keyHeader(key),
        signal: probe.signal,
      });
      // 426 means that the service would have accepted an upgrade.
      return response.status === 426 ? error : await refusalOf(response);
    } catch (reason) {
      return unreachable(reason, error);
    } finally {
      environment.clearTimer(timer);
      probe.abort();
      this.#probe = undefined;
    }
  }

  #wait(error: ClientError): void {
    if (this.#isClosed) return;
    if (isRefusal(error)) {
      this.close(error);
      return;
    }
    const delayMs = this.#backoff.next(error.retryAfterMs);
    this.#timer = this.#options.environment.setTimer(() => this.start(), delayMs);
    this.#options.onState({ state: 'waiting', delayMs, error });
  }
}
