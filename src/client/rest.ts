/** Single HTTP requests to the service, with the key. */
import { parseJson } from '../json.ts';
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import { ENVIRONMENT, type Environment, onAborted } from './environment.ts';
import { badAnswer, ClientError, unreachable } from './errors.ts';
import { addressOf, keyHeader, queryOf, readText, refusalOf, type ServiceAccess } from './http.ts';
import { MAX_ANSWER } from './limits.ts';
import { loadPinned, withPinned } from './pin.ts';
import type { HistoryQuery } from './socket-options.ts';

export interface RequestOptions extends ServiceAccess {
  /** Default: POST when there is a body, otherwise GET. */
  readonly method?: 'GET' | 'POST' | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Default: 10,000. */
  readonly timeoutMs?: number | undefined;
}

export interface Answer<T> {
  readonly data: T;
  /** Includes `x-media-delivered` after a media command. */
  readonly headers: Headers;
}

const TIMEOUT_MS = 10_000;

/**
 * Requests `path` (`/api/media/control`) and resolves with its JSON, assumed to be a T. Rejects with a ClientError: the
 * code that the service sent, if any, `unauthorized`, `forbidden`, `refused`, `unreachable`, `timeout`, `bad_answer`,
 * `too_large`; or with the signal's reason. Sent once: after `timeout` or `unreachable` a command may have been carried out.
 */
export function request<T = unknown>(path: string, options: RequestOptions): Promise<Answer<T>> {
  return requestIn(path, options, ENVIRONMENT);
}

/** The same with an environment that tests provide. */
export async function requestIn<T>(
  path: string,
  options: RequestOptions,
  environment: Environment,
): Promise<Answer<T>> {
  const { url, key, pin, body, signal, timeoutMs = TIMEOUT_MS } = options;
  const address = addressOf(url, path);
  const { fetch, setTimer, clearTimer } = withPinned(environment, loadPinned(pin, url));
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const stopListening = onAborted(signal, () => attempt.abort(signal?.reason));
  const late = () => attempt.abort(new ClientError('timeout', `no answer within ${timeoutMs} ms`));
  const timer = setTimer(late, timeoutMs);
  try {
    const response = await fetch(address.href, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...keyHeader(key), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: attempt.signal,
    });
    if (!response.ok) throw await refusalOf(response);
    const data = parseJson(await readText(response, MAX_ANSWER));
    attempt.signal.throwIfAborted();
    if (data === undefined) throw badAnswer();
    // The caller knows the shape that the path answers with; docs/api.md lists them.
    return { data: data as T, headers: response.headers };
  } catch (error) {
    throw attempt.signal.aborted ? attempt.signal.reason : unreachable(error);
  } finally {
    clearTimer(timer);
    stopListening();
  }
}

export type ReadOptions = Omit<RequestOptions, 'method' | 'body'>;

/** Reads recorded values. Rejects as `request`; with `feature_disabled` where nothing is recorded. */
export async function history({
  series,
  since,
  until,
  step,
  ...options
}: HistoryQuery & ReadOptions): Promise<HistoryPayload> {
  // Each of several parameters is one whole name; a single one would be read as a list.
  const names = series?.length === 1 ? [...series, ''] : (series ?? []);
  const query = queryOf({ series: names, since, until, step });
  return (await request<HistoryPayload>(`/api/history?${query}`, options)).data;
}

/** Which programs used most at a moment: Unix seconds, or negative: before now. Rejects as `history`. */
export async function processesAt(at: number, options: ReadOptions): Promise<ProcessHistoryPayload> {
  return (await request<ProcessHistoryPayload>(`/api/history/processes?at=${at}`, options)).data;
}
