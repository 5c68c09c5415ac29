/** The one stream of the page: reconnects, a pause while the page is hidden, and the key. */
import type { ClientError, ConnectionState, Section, StatsStream } from '../src/client/client.ts';
import { ENVIRONMENT, type Environment } from '../src/client/environment.ts';
import { streamStatsIn } from '../src/client/stream.ts';
import { access, type ClientAccess, may } from './access.ts';
import { lossOf } from './loss.ts';
import {
  askAccess,
  forgetKey,
  HOST_ID,
  keepKey,
  linkKey,
  lock,
  noteAccepted,
  noteRefusal,
  readKey,
  SERVICE_URL,
} from './requests.ts';
import { TEXTS } from './texts.ts';
import { Value } from './value.ts';

/** `limited`: the key is valid, but does not allow reading. */
export type Connection =
  | 'connecting'
  | 'live'
  | 'lost'
  | 'missing'
  | 'resting'
  | 'locked'
  | 'refused'
  | 'limited';

export const connection = new Value<Connection>('connecting');
/** Why the connection is lost. */
export const failure = new Value<ClientError | undefined>(undefined);
export const isHidden = new Value(document.visibilityState === 'hidden');

export interface Feed {
  /** Below the service. */
  readonly path: string;
  readonly fields?: readonly Section[];
  readonly detail?: boolean;
  /** Returns another answer with the same bytes. */
  readonly pass?: (answer: Response) => Response;
  /** Before the stream is opened, which the key allows. */
  readonly onBegin?: () => void;
  /** `isFirst`: of a connection. */
  readonly onMessage: (message: unknown, isFirst: boolean) => void;
  readonly onEnd?: () => void;
}

/** Retry delay: the configuration may be changed while the page is open. */
const REFUSED_RETRY_MS = 5000;
/** The same where the key does not allow reading; and how often the page asks whether the key allows more by now. */
const ACCESS_EVERY_MS = 60_000;

/** States that an attempt to connect does not change. */
const SETTLED: readonly Connection[] = ['lost', 'missing', 'refused', 'limited'];

let feed: Feed;
/** From the moment that the page is shown, or a key is entered, until it is hidden. */
let visit: StatsStream | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;

/**
 * Asks what the key allows, so that the page requests nothing else. Returns an answer in place of the stream's where that
 * would be a refusal: the service's own, or, where only a key can help, one that asks for it.
 */
async function refusalOf(
  key: string | undefined,
  signal?: AbortSignal | null,
): Promise<Response | undefined> {
  const answer = await askAccess(key, signal);
  if (answer.status === 401 || answer.status === 403) access.set(undefined);
  if (!answer.ok) return answer;
  const next = (await answer.json()) as ClientAccess; // The page and the service come from the same build.
  access.set(next);
  if (next.key !== null) noteAccepted(key);
  return may('read') ? undefined : new Response(null, { status: next.key === null ? 401 : 403 });
}

function take(message: unknown): void {
  const isFirst = connection.current !== 'live';
  feed.onMessage(message, isFirst);
  connection.set('live');
}

function onState(state: ConnectionState, key: string | undefined): void {
  switch (state.state) {
    case 'connecting':
      // The client reconnects on its own; the page does not show each attempt.
      if (!SETTLED.includes(connection.current)) connection.set('connecting');
      break;
    case 'open':
      break;
    case 'waiting':
      failure.set(state.error);
      connection.set(lossOf(state.error, HOST_ID));
      // It is asked for again when the page is shown again.
      if (connection.current === 'missing') visit?.close();
      break;
    case 'closed':
      if (state.error?.status === 401) {
        connection.set('locked');
        noteRefusal(state.error, key);
      } else if (state.error !== undefined) {
        const isLimited = access.current !== undefined && !may('read');
        connection.set(isLimited ? 'limited' : 'refused');
        retry = setTimeout(restart, isLimited ? ACCESS_EVERY_MS : REFUSED_RETRY_MS);
      }
  }
}

function restart(): void {
  visit?.close();
  clearTimeout(retry);
  feed.onEnd?.();
  if (isHidden.current) {
    connection.set('resting');
    return;
  }
  let hasBegun = false;
  const key = readKey();
  const { path, fields, detail, pass } = feed;
  const options = {
    url: SERVICE_URL,
    ...{ key, fields, detail },
    onSample: take,
    onState: (state: ConnectionState) => onState(state, key),
  };
  const environment: Environment = {
    ...ENVIRONMENT,
    async fetch(address, init) {
      const refusal = await refusalOf(key, init?.signal);
      if (refusal !== undefined) return refusal;
      if (!hasBegun) feed.onBegin?.();
      hasBegun = true;
      const answer = await fetch(address, init);
      return pass?.(answer) ?? answer;
    },
  };
  visit = streamStatsIn(options, environment, path);
}

/** Removes the key, so that the page asks for it again if one is needed. */
export function dropKey(): void {
  forgetKey();
  restart();
}

export function giveKey(key: string, isRemembered: boolean): void {
  keepKey(key, isRemembered);
  lock.set(undefined);
  restart();
}

/** Set if the key of a link was not accepted, and the kept one is valid or none is needed. */
export const isLinkWrong = new Value(false);

/** Tries the key of a link before it replaces the kept one; the user decides if both are valid. */
async function tryLink(key: string): Promise<void> {
  const [next, kept] = await Promise.all(
    [key, readKey()].map(async (each): Promise<Partial<ClientAccess>> => {
      const answer = await askAccess(each);
      return answer.ok ? await answer.json() : {}; // As above.
    }),
  );
  if (!next?.key) isLinkWrong.set(true);
  else if (!kept?.key || confirm(TEXTS.link.replace(next.key, kept.key))) giveKey(key, true);
}

export function follow(of: Feed): void {
  feed = of;
  if (linkKey !== undefined && linkKey !== readKey()) tryLink(linkKey).catch(() => undefined);
  document.addEventListener('visibilitychange', () => isHidden.set(document.visibilityState === 'hidden'));
  isHidden.watch(restart);
  setInterval(() => {
    // The stream reports failures, and ends if the key allows less.
    if (connection.current === 'live') refusalOf(readKey()).catch(() => undefined);
  }, ACCESS_EVERY_MS);
  restart();
}
