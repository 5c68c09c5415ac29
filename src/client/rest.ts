/** Single requests to the service: commands and questions, with the key. */
import { ENVIRONMENT, type Environment, heed } from './environment.ts';
import { badAnswer, ClientError, unreachable } from './errors.ts';
import { addressOf, keyHeader, refusalOf } from './refusals.ts';

export interface RequestOptions {
  /** Where the service is: `http://pc:9990`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Without one GET, or POST where there is a body. */
  readonly method?: 'GET' | 'POST' | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** 10,000 when not given. */
  readonly timeoutMs?: number | undefined;
}

export interface Answer<T> {
  readonly data: T;
  /** With `x-media-delivered` after a media command. */
  readonly headers: Headers;
}

const TIMEOUT_MS = 10_000;

/**
 * Asks for `path` (`/api/media/control`) and resolves with its JSON, taken for a T. Rejects with a ClientError: the
 * service's own code where it said one, `unauthorized`, `forbidden`, `refused`, `unreachable`, `timeout`, `bad_answer`;
 * or with the signal's reason. Sent once: after `timeout` or `unreachable` a command may have been carried out.
 */
export function request<T = unknown>(path: string, options: RequestOptions): Promise<Answer<T>> {
  return requestIn(path, options, ENVIRONMENT);
}

/** The same in surroundings of a test's own. */
export async function requestIn<T>(
  path: string,
  options: RequestOptions,
  environment: Environment,
): Promise<Answer<T>> {
  const { url, key, body, signal, timeoutMs = TIMEOUT_MS } = options;
  const address = addressOf(url, path);
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const letGo = heed(signal, () => attempt.abort(signal?.reason));
  const timer = environment.setTimer(
    () => attempt.abort(new ClientError('timeout', `no answer within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await environment.fetch(address.href, {
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
    letGo();
  }
}

async function dataOf<T>(response: Response, signal: AbortSignal): Promise<T> {
  const text = await response.text();
  signal.throwIfAborted();
  try {
    // Which shape a path answers with is for the caller to know: it is in docs/api.md.
    return JSON.parse(text) as T;
  } catch {
    throw badAnswer();
  }
}
