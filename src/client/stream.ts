/** Receives stats as server-sent events over fetch, which unlike EventSource can send the key; reconnects forever. */
import { Backoff } from './backoff.ts';
import { callOut, ENVIRONMENT, type Environment, onAborted } from './environment.ts';
import { badAnswer, ClientError, isRefusal, silent, unreachable } from './errors.ts';
import { EventParser } from './event-parser.ts';
import type { Section, StatsPayload } from './payload.ts';
import { loadPinned, withPinned } from './pin.ts';
import { addressOf, keyHeader, refusalOf } from './refusals.ts';
import type { ConnectionState } from './state.ts';
import { MAX_SILENT_TICKS, Watchdog } from './watchdog.ts';

export interface StreamOptions<S extends Section = Section, D extends boolean = false> {
  /** The address of the service: `http://pc:9990`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** On Node, with an https address: the pin of the service's key (`sha256/…`). No other server is sent anything. */
  readonly pin?: string | undefined;
  /** Default: all sections. */
  readonly fields?: readonly S[] | undefined;
  readonly detail?: D | undefined;
  readonly onSample: (sample: StatsPayload<S, D>) => void;
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /** Aborting it is the same as `close()`. */
  readonly signal?: AbortSignal | undefined;
}

export interface StatsStream {
  readonly state: ConnectionState;
  /** After this returns, no callback is called except `onState` with `closed`. */
  close(): void;
}

/**
 * Subscribes to the samples of the service at `url`, and again after each loss, until it is closed or refused (401,
 * 403). Each sample is passed to `onSample` once. Throws a TypeError when `url` or `pin` is invalid.
 */
export function streamStats<const S extends Section = Section, const D extends boolean = false>(
  options: StreamOptions<S, D>,
): StatsStream {
  return new Stream(options, ENVIRONMENT);
}

/** The same with an environment that tests provide. */
export function streamStatsIn<const S extends Section = Section, const D extends boolean = false>(
  options: StreamOptions<S, D>,
  environment: Environment,
): StatsStream {
  return new Stream(options, environment);
}

class Stream<S extends Section, D extends boolean> implements StatsStream {
  readonly #options: StreamOptions<S, D>;
  readonly #environment: Environment;
  readonly #address: string;
  readonly #backoff: Backoff;
  readonly #stopListening: () => void;
  #state: ConnectionState = { state: 'connecting' };
  #attempt: AbortController | undefined;
  /** Ends the delay between two attempts. */
  #endWait: (() => void) | undefined;
  /** The text of the last sample that was passed to `onSample`. */
  #last: string | undefined;

  constructor(options: StreamOptions<S, D>, environment: Environment) {
    this.#options = options;
    this.#environment = withPinned(environment, loadPinned(options.pin, options.url));
    this.#backoff = new Backoff(environment);
    const address = addressOf(options.url, 'api/stream');
    const { fields = [], detail, signal } = options;
    if (fields.length > 0) address.searchParams.set('fields', fields.join(','));
    if (detail === true) address.searchParams.set('detail', '1');
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
        if (!isRepeated) callOut(this.#options.onSample, this.#sampleOf(data));
      }
      this.#backoff.atLeastMs = parser.retryMs ?? this.#backoff.atLeastMs;
    }
  }

  #sampleOf(data: string): StatsPayload<S, D> {
    try {
      const sample: unknown = JSON.parse(data);
      // The service's contract: it sends the sections that were requested.
      if (typeof sample === 'object' && sample !== null) return sample as StatsPayload<S, D>;
    } catch {
      // Thrown below, as for any other invalid text.
    }
    throw badAnswer();
  }
}
