/** Requests of the page to its service: the key in a header, never in a URL; what was refused as a sentence. */
import { ClientError, request } from '../src/client/client.ts';
import { TEXTS } from './texts.ts';
import { Value } from './value.ts';

const KEY_NAME = 'hostwire-key';

/** Session storage: it does not outlive the tab. */
export const readKey = (): string | undefined => sessionStorage.getItem(KEY_NAME) ?? undefined;

export const keepKey = (key: string): void => sessionStorage.setItem(KEY_NAME, key);

/** The service wants a key; whether it was asked with one that is wrong. */
export const lock = new Value<{ readonly isWrong: boolean } | undefined>(undefined);

/** To be told of each refusal: a 401 asks for the key. */
export function noteRefusal(error: unknown, usedKey: string | undefined): void {
  if (!(error instanceof ClientError) || error.status !== 401) return;
  // Another one may have been given meanwhile.
  if (usedKey !== readKey()) return;
  sessionStorage.removeItem(KEY_NAME);
  lock.set({ isWrong: usedKey !== undefined });
}

interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

async function ask<T>(path: string, options: Ask) {
  const key = readKey();
  try {
    return await request<T>(path, { url: location.origin, key, ...options });
  } catch (error) {
    noteRefusal(error, key);
    throw error;
  }
}

/** `T` is what the service's own types say of `path`: the page comes from the same build as the service. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask<T>(path, signal === undefined ? {} : { signal })).data;
}

/** The answer's headers. */
export async function post(path: string, body?: object): Promise<Headers> {
  return (await ask(path, { method: 'POST', ...(body === undefined ? {} : { body }) })).headers;
}

/** Undefined where there is no picture, for whatever reason. */
export async function getPicture(path: string, signal: AbortSignal): Promise<Blob | undefined> {
  const key = readKey();
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(path, { headers, signal });
  return answer.ok ? await answer.blob() : undefined;
}

/** What to tell people of something that was thrown. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ClientError)) return String(error);
  if (error.code === 'feature_disabled') return TEXTS.error.disabled;
  const { details } = error;
  const reason =
    typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined;
  return typeof reason === 'string' ? `${error.message} (${reason})` : error.message;
}
