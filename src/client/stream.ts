/** Streams of server-sent events that last: over fetch, which unlike EventSource can send the key. */
import { parseObject } from '../json.ts';
import { callOut, ENVIRONMENT, type Environment } from './environment.ts';
import { badAnswer, ClientError, unreachable } from './errors.ts';
import { EventParser } from './event-parser.ts';
import { addressOf, keyHeader, queryOf, refusalOf, type ServiceAccess } from './http.ts';
import { type ConnectionState, Lasting } from './lasting.ts';
import type { Section, StatsPayload } from './payload.ts';
import { loadPinned, withPinned } from './pin.ts';

export interface StatsStream {
  readonly state: ConnectionState;
  /** After this returns, no callback is called except `onState` with `closed`. */
  close(): void;
}

export interface LastingOptions extends ServiceAccess {
  readonly onState?: ((state: ConnectionState) => void) | undefined;
  /** Aborting it is the same as `close()`. */
  readonly signal?: AbortSignal | undefined;
}

export interface StreamOptions<S extends Section = Section, D extends boolean = false>
  extends LastingOptions {
  /** Default: all sections. */
  readonly fields?: readonly S[] | undefined;
  readonly detail?: D | undefined;
  readonly onSample: (sample: StatsPayload<S, D>) => void;
}

/**
 * Subscribes to the samples of the service at `url`, and again after each loss, until it is closed or refused (401,
 * 403). Each sample is passed to `onSample` once. Throws a TypeError when `url` or `pin` is invalid.
 */
export function streamStats<const S extends Section = Section, const D extends boolean = false>(
  options: StreamOptions<S, D>,
): StatsStream {
  return streamStatsIn(options, ENVIRONMENT);
}

/** The same with an environment that tests provide. `path`: of another stream of stats. */
export function streamStatsIn<const S extends Section = Section, const D extends boolean = false>(
  { fields, detail, onSample, ...options }: StreamOptions<S, D>,
  environment: Environment,
  path = 'api/stream',
): StatsStream {
  // The service's contract: it sends the sections that were requested.
  const onPayload = (payload: object) => onSample(payload as StatsPayload<S, D>);
  const address = addressOf(options.url, path, queryOf(viewOf(fields, detail)));
  return new LastingStream(options, environment, address, onPayload);
}

/** The parameters for these sections. */
export const viewOf = (fields: readonly string[] = [], detail: boolean | undefined = false) => ({
  fields: fields.join(',') || undefined,
  detail: detail ? 1 : undefined,
});

export class LastingStream extends Lasting implements StatsStream {
  readonly #options: LastingOptions;
  readonly #address: string;
  readonly #onPayload: (payload: object) => void;
  #attempt: AbortController | undefined;
  /** The text of the last event that was passed on. */
  #last: string | undefined;

  /** `onPayload`: called with the JSON of each event, an object. */
  constructor(
    options: LastingOptions,
    environment: Environment,
    address: URL,
    onPayload: (payload: object) => void,
  ) {
    super(withPinned(environment, loadPinned(options.pin, options.url)));
    this.#options = options;
    this.#address = address.href;
    this.#onPayload = onPayload;
    void this.start(options.signal);
  }

  protected override onState(state: ConnectionState): void {
    const { onState } = this.#options;
    if (onState !== undefined) callOut(onState, state);
  }

  protected override drop(error?: ClientError): void {
    this.#attempt?.abort(error);
  }

  protected override attempt(): void {
    const attempt = new AbortController();
    this.#attempt = attempt;
    void this.#listen(attempt).then((error) => this.lost(error));
  }

  /** Serves one connection and resolves with the reason of its end. Never rejects. */
  async #listen(attempt: AbortController): Promise<ClientError> {
    try {
      const response = await this.environment.fetch(this.#address, {
        headers: { accept: 'text/event-stream', ...keyHeader(this.#options.key) },
        signal: attempt.signal,
      });
      if (response.status !== 200) throw await refusalOf(response);
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) throw badAnswer();
      await this.#read(response);
      return new ClientError('ended', 'the service ended the stream');
    } catch (error) {
      // Not every fetch throws the signal's reason when it is aborted.
      return unreachable(attempt.signal.reason ?? error);
    } finally {
      // Releases the rest of the answer.
      attempt.abort();
    }
  }

  async #read(response: Response): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined || this.isClosed) return;
    this.opened();
    const parser = new EventParser();
    let isFirst = true;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.isClosed) return;
      this.heard();
      for (const { type, data } of parser.push(value)) {
        if (type !== 'message' || this.isClosed) continue;
        // A new stream starts with the latest sample, which may have arrived over the previous one.
        const isRepeated = isFirst && data === this.#last;
        isFirst = false;
        this.#last = data;
        if (isRepeated) continue;
        const payload = parseObject(data);
        if (payload === undefined) throw badAnswer();
        callOut(this.#onPayload, payload);
      }
      this.backoff.atLeastMs = parser.retryMs ?? this.backoff.atLeastMs;
    }
  }
}
