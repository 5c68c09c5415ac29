/** One WebSocket after the other to the same service: made, watched, lost, made again. */
import { Backoff } from './backoff.ts';
import type { Environment } from './environment.ts';
import { badAnswer, ClientError, isRefusal, silent, unreachable } from './errors.ts';
import { type Message, parseMessage } from './messages.ts';
import { addressOf, keyHeader, refusalOf } from './refusals.ts';
import type { ConnectionState } from './state.ts';
import { MOST_SILENT_TICKS, Watchdog } from './watchdog.ts';

/** What is used of a WebSocket: the browser's, Node 22's and the package ws all have it. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
}

/** Any of a socket's events. */
export interface SocketEvent {
  readonly type?: string;
  readonly data?: unknown;
  readonly code?: number;
}

export type SocketConstructor = new (url: string) => SocketLike;

export interface ConnectionOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly WebSocket: SocketConstructor;
  readonly environment: Environment;
  readonly onState: (state: ConnectionState) => void;
  /** The service has said `connected`; `data` is what it said. */
  readonly onOpen: (data: unknown) => void;
  readonly onMessage: (message: Message) => void;
  /** What was sent and not answered will not be answered any more; there will be another connection. */
  readonly onLost: (error: ClientError) => void;
}

const PROTOCOL = 1;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #backoff: Backoff;
  /** The socket of the moment: whatever another one still says is not heard. */
  #socket: SocketLike | undefined;
  #isOpen = false;
  #isClosed = false;
  /** The limit of an attempt, or the wait before the next. */
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

  /** Makes the first attempt. */
  start(): void {
    if (this.#isClosed) return;
    const { environment, key, onState } = this.#options;
    const address = addressOf(this.#options.url, 'api/ws');
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    // A browser can send no header with the upgrade: here, and nowhere else, the service takes the key in the query.
    if (key !== undefined) address.searchParams.set('api_key', key);
    onState({ state: 'connecting' });
    if (this.#isClosed) return;
    this.#timer = environment.setTimer(() => this.#lose(unreachable()), environment.timing.connectMs);
    try {
      this.#listen(new this.#options.WebSocket(address.href));
    } catch (error) {
      this.#lose(unreachable(error));
    }
  }

  /** Only while it is open. */
  send(text: string): void {
    this.#socket?.send(text);
  }

  /** For good. */
  close(error?: ClientError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#letGo();
    this.#probe?.abort();
    this.#options.onState(error === undefined ? { state: 'closed' } : { state: 'closed', error });
  }

  #listen(socket: SocketLike): void {
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    let isLeaving = false;
    socket.addEventListener('message', ({ data }) => {
      if (!isCurrent()) return;
      const message = parseMessage(data);
      if (message === undefined) return this.#lose(badAnswer());
      if (message.type === 'closing') isLeaving = true;
      this.#hear(message);
    });
    socket.addEventListener('close', ({ code }) => {
      if (!isCurrent()) return;
      const ended = new ClientError('ended', 'the service has closed the connection');
      this.#lose(isLeaving ? ended : new ClientError('connection_lost', `the connection was lost (${code})`));
    });
    // Some sockets say no more than this when they could not be made.
    socket.addEventListener('error', () => {
      if (isCurrent() && !this.#isOpen) this.#lose(unreachable());
    });
  }

  #hear(message: Message): void {
    this.#watchdog?.heard();
    if (this.#isOpen) this.#options.onMessage(message);
    else if (message.type === 'connected') this.#greet(message.data);
  }

  #greet(data: unknown): void {
    const { protocol } = (data ?? {}) as { readonly protocol?: unknown }; // Whatever object it is.
    if (protocol === PROTOCOL) this.#open(data);
    else this.close(new ClientError('bad_answer', `the service speaks protocol ${String(protocol)}`));
  }

  #open(data: unknown): void {
    const { environment, onOpen, onState } = this.#options;
    environment.clearTimer(this.#timer);
    this.#isOpen = true;
    this.#backoff.opened();
    this.#watchdog = new Watchdog(environment, (ticks) => {
      if (ticks >= MOST_SILENT_TICKS) this.#lose(silent());
      // A program does not see the frames by which the two sides keep the connection alive: it has to ask.
      else if (ticks > 0) this.send('{"op":"ping"}');
    });
    onState({ state: 'open' });
    if (this.#isOpen) onOpen(data);
  }

  /** The socket, whatever it still says, is the past. */
  #letGo(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    this.#options.environment.clearTimer(this.#timer);
    this.#watchdog?.stop();
    this.#watchdog = undefined;
    // Closing takes as long as the other side likes; nobody waits for it.
    socket?.close();
  }

  #lose(error: ClientError): void {
    const wasOpen = this.#isOpen;
    this.#letGo();
    this.#options.onLost(error);
    if (wasOpen) this.#wait(error);
    else void this.#ask(error).then((reason) => this.#wait(reason));
  }

  /** A WebSocket does not tell why it could not be made: a plain request to the same address does. Never rejects. */
  async #ask(error: ClientError): Promise<ClientError> {
    const { url, key, environment } = this.#options;
    const probe = new AbortController();
    this.#probe = probe;
    const timer = environment.setTimer(() => probe.abort(), environment.timing.connectMs);
    try {
      const response = await environment.fetch(addressOf(url, 'api/ws').href, {
        headers: keyHeader(key),
        signal: probe.signal,
      });
      // 426 is the answer of a service that would have let it pass.
      return response.status === 426 ? error : await refusalOf(response);
    } catch {
      return error;
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
