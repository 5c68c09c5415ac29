/** The page's requests to its service: the key in a header, never in a URL, and refusals as sentences. */
import { ClientError, request } from '../src/client/client.ts';
import { TEXTS } from './texts.ts';
import { Value } from './value.ts';

const FOLDER = new URL('.', document.baseURI);
/** The address of the hub, on the page of one of its machines; undefined on other pages. */
const { hub } = document.documentElement.dataset;

/** The id of the machine at its hub. */
export const HOST_ID = hub === undefined ? undefined : FOLDER.pathname.split('/').at(-2);
/** The address of the service: relative to the folder of this page, because a proxy may serve it under a path. */
export const SERVICE_URL = new URL(hub ?? '.', FOLDER).href;
/** The path for `api/…` of the machine that this page shows; the list of machines is the hub's. */
export const apiPath = (path: string): string =>
  HOST_ID === undefined || path.includes('api/hosts') ? path : path.replace('api/', `api/hosts/${HOST_ID}/`);

/** With the path: a proxy may serve several machines from one origin, each with its own key. */
export const storageName = (of: string): string => `hostwire-${of} ${new URL(SERVICE_URL).pathname}`;
const KEY_NAME = storageName('key');

/** Session storage ends with the tab; local storage is used only if the user asked for it. */
export const readKey = (): string | undefined =>
  sessionStorage.getItem(KEY_NAME) ?? localStorage.getItem(KEY_NAME) ?? undefined;

export const isKeyRemembered = (): boolean => localStorage.getItem(KEY_NAME) !== null;

export function keepKey(key: string, isRemembered: boolean): void {
  forgetKey();
  (isRemembered ? localStorage : sessionStorage).setItem(KEY_NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(KEY_NAME);
  localStorage.removeItem(KEY_NAME);
}

/** The link of `hostwire pair` has the key in its fragment, which no browser sends to a server. */
const LINK = /^#key=([\w.~-]{1,1024})$/;

const LINK_NAME = storageName('link');

/**
 * Takes the key of such a link out of the address and loads the page again, because the entry of a navigation has the address
 * as long as the document lives (PerformanceNavigationTiming, navigation.activation). Returns whether there is such a key.
 */
export function leaveLink(): boolean {
  const key = LINK.exec(location.hash)?.[1];
  if (key === undefined) return false;
  sessionStorage.setItem(LINK_NAME, key);
  history.replaceState(history.state, '', location.pathname + location.search);
  location.reload();
  return true;
}

/** The key that the service has accepted. One that was kept before had been accepted then. */
let accepted = readKey();

export function noteAccepted(key: string | undefined): void {
  accepted = key;
}

/** The key of the link that led here. Any page may lead here, so it replaces a kept key only after a question. */
export const linkKey = sessionStorage.getItem(LINK_NAME) ?? undefined;
sessionStorage.removeItem(LINK_NAME);
if (linkKey !== undefined && accepted === undefined) keepKey(linkKey, true);

// A link for the page that is open already loads nothing.
addEventListener('hashchange', leaveLink);

/** Why the page asks for a key: none was sent, a wrong one, or one that was valid before. */
export type Lock = 'missing' | 'wrong' | 'ended';

/** Set while the service requires a key. */
export const lock = new Value<Lock | undefined>(undefined);

/** Must be called for each refusal: a 401 asks for the key. */
export function noteRefusal(error: unknown, usedKey: string | undefined): void {
  if (!(error instanceof ClientError) || error.status !== 401) return;
  // Another key may have been entered in the meantime.
  if (usedKey !== readKey()) return;
  forgetKey();
  // Requests that follow the first refusal have no key.
  if (lock.current !== undefined) return;
  lock.set(usedKey === undefined ? 'missing' : usedKey === accepted ? 'ended' : 'wrong');
}

interface Ask {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal?: AbortSignal;
}

async function ask<T>(path: string, options: Ask) {
  const key = readKey();
  try {
    return await request<T>(apiPath(path), { url: SERVICE_URL, key, ...options });
  } catch (error) {
    noteRefusal(error, key);
    throw error;
  }
}

/** `T` is the service's own type for `path`: the page and the service come from the same build. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask<T>(path, signal === undefined ? {} : { signal })).data;
}

/** Resolves with the headers of the answer. */
export async function post(path: string, body?: object): Promise<Headers> {
  return (await ask(path, { method: 'POST', ...(body === undefined ? {} : { body }) })).headers;
}

const keyHeader = (key: string | undefined): Readonly<Record<string, string>> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };

/** Asks what a client with `key` may do. */
export const askAccess = (key: string | undefined, signal?: AbortSignal | null): Promise<Response> =>
  fetch(new URL(apiPath('api/access'), SERVICE_URL), { headers: keyHeader(key), signal: signal ?? null });

/** Returns the picture at `path`, relative to the service; undefined if the track has none. */
export async function getPicture(path: string, signal: AbortSignal): Promise<Blob | undefined> {
  const answer = await fetch(new URL(apiPath(path), SERVICE_URL), { headers: keyHeader(readKey()), signal });
  return answer.ok ? await answer.blob() : undefined;
}

/** Returns a sentence for people about an error. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ClientError)) return String(error);
  if (error.code === 'feature_disabled') return TEXTS.error.disabled;
  const { details } = error;
  const reason =
    typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined;
  return typeof reason === 'string' ? `${error.message} (${reason})` : error.message;
}
