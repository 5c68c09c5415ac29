/** A stream of server-sent events that lasts: received over fetch, which unlike EventSource can send the key; reconnects forever. */
import { Backoff } from './backoff.ts';
import { callOut, type Environment, onAborted } from './environment.ts';
import { badAnswer, ClientError, isRefusal, silent, unreachable } from './errors.ts';
import { EventParser } from './event-parser.ts';
import { loadPinned, withPinned } from './pin.ts';
import { addressOf, keyHeader, refusalOf } from './refusals.ts';
import type { ConnectionState } from './state.ts';
import { MAX_SILENT_TICKS, Watchdog } from './watchdog.ts';

export interface StatsStream {
  readonly state: ConnectionState;
  /** After this returns, no callback is called except `onState` with `closed`. */
  close(): void;
}

export interface LastingOptions {
  readonly url: string;
  readonly key?: string | undefined;
  readonly pin?: string | undefined;
  /** Below `url`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Called with the JSON of each event, an object. */
  readonly onPayload: (payload: object) => void;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class LastingStream implements StatsStream {
  readonly #options: LastingOptions;
  readonly #environment: Environment;
  readonly #address: string;
  readonly #backoff: Backoff;
  readonly #stopListening: () => void;
  #state: ConnectionState = { state: 'connecting' };
  #attempt: AbortController | undefined;
  /** Ends the delay between two attempts. */
  #endWait: (() => void) | undefined;
  /** The text of the last event that was passed on. */
  #last: string | undefined;

  constructor(options: LastingOptions, environment: Environment) {
    this.#options = options;
    this.#environment = withPinned(environment, loadPinned(options.pin, options.url));
    this.#backoff = new Backoff(environment);
    const { path, query, signal } = options;
    const address = addressOf(options.url, path);
    address.search = query.toString();
    this.#address = address.href;
    this.#stopListening = onAborted(signal, () => this.close());
    if (signal?.aborted === true) this.close();
    else void this.#run();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  close(): void {
    this.#end();
  }

  #end(error?: ClientError): void {
    if (this.#isClosed()) return;
    this.#stopListening();
    this.#setState(error === undefined ? { state: 'closed' } : { state: 'closed', error });
    this.#attempt?.abort();
    this.#endWait?.();
  }

  #isClosed(): boolean {
    return this.#state.state === 'closed';
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    const { onState } = this.#options;
    if (onState !== undefined) callOut(onState, state);
  }

  async #run(): Promise<void> {
    // The caller gets the stream before any callback is called.
    await Promise.resolve();
    while (!this.#isClosed()) {
      this.#setState({ state: 'connecting' });
      const error = await this.#listen();
      if (this.#isClosed()) return;
      if (isRefusal(error)) return this.#end(error);
      const delayMs = this.#backoff.next(error.retryAfterMs);
      this.#setState({ state: 'waiting', delayMs, error });
      await this.#wait(delayMs);
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed()) return resolve();
      const timer = this.#environment.setTimer(() => this.#endWait?.(), delayMs);
      this.#endWait = () => {
        this.#environment.clearTimer(timer);
        this.#endWait = undefined;
        resolve();
      };
    });
  }

  /** Serves one connection and resolves with the reason of its end. Never rejects. */
  async #listen(): Promise<ClientError> {
    if (this.#isClosed()) return unreachable();
    const { setTimer, clearTimer, timing } = this.#environment;
    const attempt = new AbortController();
    this.#attempt = attempt;
    let watchdog: Watchdog | undefined;
    const limit = setTimer(() => attempt.abort(unreachable()), timing.connectMs);
    try {
      const response = await this.#ask(attempt.signal);
      clearTimer(limit);
      watchdog = new Watchdog(this.#environment, (ticks) => {
        if (ticks >= MAX_SILENT_TICKS) attempt.abort(silent());
      });
      await this.#read(response, watchdog);
      return new ClientError('ended', 'the service ended the stream');
    } catch (error) {
      // Not every fetch throws the signal's reason when it is aborted.
      return unreachable(attempt.signal.reason ?? error);
    } finally {
      clearTimer(limit);
      watchdog?.stop();
      // Releases the rest of the answer.
      attempt.abort();
    }
  }

  async #ask(signal: AbortSignal): Promise<Response> {
    const response = await this.#environment.fetch(this.#address, {
      headers: { accept: 'text/event-stream', ...keyHeader(this.#options.key) },
      signal,
    });
    if (response.status !== 200) throw await refusalOf(response);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) throw badAnswer();
    return response;
  }

  async #read(response: Response, watchdog: Watchdog): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    this.#backoff.opened();
    this.#setState({ state: 'open' });
    const parser = new EventParser();
    let isFirst = true;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#isClosed()) return;
      watchdog.reset();
      for (const { type, data } of parser.push(value)) {
        if (type !== 'message' || this.#isClosed()) continue;
        // A new stream starts with the latest sample, which may have arrived over the previous one.
        const isRepeated = isFirst && data === this.#last;
        isFirst = false;
        this.#last = data;
        if (!isRepeated) callOut(this.#options.onPayload, objectIn(data));
      }
      this.#backoff.atLeastMs = parser.retryMs ?? this.#backoff.atLeastMs;
    }
  }
}

function objectIn(data: string): object {
  try {
    const payload: unknown = JSON.parse(data);
    if (typeof payload === 'object' && payload !== null) return payload;
  } catch {
    // Thrown below, as for any other invalid text.
  }
  throw badAnswer();
}
