/** Requests to the service: the key in a header, errors as sentences. */
import { TEXTS } from './texts.ts';
import { Value } from './value.ts';

const KEY_NAME = 'hostwire-key';

/** Not in a URL, where it would be logged; not in local storage, where it would outlive the tab. */
export function readKey(): string | null {
  return sessionStorage.getItem(KEY_NAME);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(KEY_NAME, key);
}

export function headersWithKey(): Record<string, string> {
  const key = readKey();
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/** Whether the service has answered 401, and whether it was asked with a key then. */
export const lock = new Value<{ readonly isWrong: boolean } | undefined>(undefined);

/** A request that was not answered with 200. */
export class RequestError extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
    this.code = code;
  }
}

/** Error bodies as decisions document them; what is not one is told by its status. */
async function errorOf(answer: Response): Promise<RequestError> {
  const { status } = answer;
  if (answer.headers.get('x-error-code') === 'feature_disabled')
    return new RequestError(status, TEXTS.error.disabled, 'feature_disabled');
  const body: unknown = await answer.json().catch(() => undefined);
  if (typeof body !== 'object' || body === null || !('error' in body) || typeof body.error !== 'string')
    return new RequestError(status, TEXTS.error.status(status));
  const code = 'code' in body && typeof body.code === 'string' ? body.code : undefined;
  const details = 'details' in body && typeof body.details === 'object' ? body.details : null;
  const reason = details !== null && 'reason' in details ? String(details.reason) : undefined;
  return new RequestError(status, reason === undefined ? body.error : `${body.error} (${reason})`, code);
}

/** Throws RequestError; a 401 also sets `lock`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const key = readKey();
  let answer: Response;
  try {
    answer = await fetch(path, {
      cache: 'no-store',
      ...init,
      headers: { ...headersWithKey(), ...init.headers },
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new RequestError(0, TEXTS.error.unreachable);
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    if (key !== null && readKey() === key) sessionStorage.removeItem(KEY_NAME);
    lock.set({ isWrong: key !== null });
  }
  throw await errorOf(answer);
}

/** `T` is what the service's own types say of `path`: the page comes from the same build as the service. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await request(path, signal === undefined ? {} : { signal });
  return (await answer.json()) as T;
}

export async function post(path: string, body?: object): Promise<Response> {
  const json = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return await request(path, { method: 'POST', ...(body === undefined ? {} : json) });
}

/** What to tell people of something that was thrown. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
