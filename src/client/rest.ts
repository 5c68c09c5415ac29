/** Single HTTP requests to the service, with the key. */

import { ENVIRONMENT, type Environment, onAborted } from './environment.ts';
import { badAnswer, ClientError, unreachable } from './errors.ts';
import { addressOf, keyHeader, readText, refusalOf, type ServiceAccess } from './http.ts';
import { MAX_ANSWER } from './limits.ts';
import { loadPinned, withPinned } from './pin.ts';

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
  const pinned = loadPinned(pin, url);
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const stopListening = onAborted(signal, () => attempt.abort(signal?.reason));
  const timer = environment.setTimer(
    () => attempt.abort(new ClientError('timeout', `no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await withPinned(environment, pinned).fetch(address.href, {
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...keyHeader(key), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: attempt.signal,
    });
    if (!response.ok) throw await refusalOf(response);
    return { data: await dataOf<T>(response, attempt.signal), headers: response.headers };
  } catch (error) {
    throw attempt.signal.aborted ? attempt.signal.reason : unreachable(error);
  } finally {
    environment.clearTimer(timer);
    stopListening();
  }
}

async function dataOf<T>(response: Response, signal: AbortSignal): Promise<T> {
  const text = await readText(response, MAX_ANSWER);
  signal.throwIfAborted();
  try {
    // The caller knows the shape that the path answers with; docs/api.md lists them.
    return JSON.parse(text) as T;
  } catch {
    throw badAnswer();
  }
}
