/** Keeps the page live: one stream with reconnects, a pause while hidden, and requests renewed with each connection. */
import { type ConnectionState, type StatsStream, streamStats } from '../src/client/client.ts';
import { type Charts, closePast, continuePast, openPast, renewPast } from './past.ts';
import { forgetKey, getJson, keepKey, lock, noteRefusal, readKey, SERVICE_URL } from './requests.ts';
import type { Sample, System } from './sample.ts';
import { Value } from './value.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'resting' | 'locked' | 'refused';

export const connection = new Value<Connection>('connecting');
export const sample = new Value<Sample | undefined>(undefined);
export const system = new Value<System | undefined>(undefined);
export const isHidden = new Value(document.visibilityState === 'hidden');

/** Empty until known. */
export const hostName = (): string => system.current?.hostname ?? sample.current?.host ?? '';

/** The service's clock minus this one, in seconds. */
let clockOffset = 0;
export const serviceNow = (): number => Date.now() / 1000 + clockOffset;

/** The configuration may be changed while the page is open. */
const REFUSED_RETRY_MS = 5000;
/** A reload of the configuration may switch features on and off. */
const SYSTEM_EVERY_MS = 60_000;

/** As `begin` was given it: the cards know it, and they import this file. */
let charts: Charts;

function take(next: Sample): void {
  clockOffset = next.timestamp - Date.now() / 1000;
  continuePast(next, connection.current !== 'live');
  sample.set(next);
  if (connection.current !== 'live') {
    connection.set('live');
    void readSystem();
  }
}

async function readSystem(): Promise<void> {
  // The stream reports when the service cannot be reached, or refuses.
  await getJson<System>('/api/system?detail=1').then(
    (next) => system.set(next),
    () => undefined,
  );
}

/** One visit: from the moment that the page is shown, or a key is entered, until it is hidden. */
let visit: StatsStream | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;

function onState(state: ConnectionState, key: string | undefined): void {
  switch (state.state) {
    case 'connecting':
      // The client reconnects by itself; the page does not show each attempt.
      if (connection.current !== 'lost' && connection.current !== 'refused') connection.set('connecting');
      break;
    case 'open':
      break;
    case 'waiting':
      connection.set('lost');
      break;
    case 'closed':
      if (state.error?.status === 401) {
        connection.set('locked');
        noteRefusal(state.error, key);
      } else if (state.error !== undefined) {
        connection.set('refused');
        retry = setTimeout(restart, REFUSED_RETRY_MS);
      }
  }
}

function restart(): void {
  visit?.close();
  clearTimeout(retry);
  closePast();
  if (isHidden.current) {
    connection.set('resting');
    return;
  }
  openPast(charts);
  const key = readKey();
  visit = streamStats({
    url: SERVICE_URL,
    key,
    detail: true,
    onSample: take,
    onState: (state) => onState(state, key),
  });
}

/** Removes the key, so that the page asks for it again where one is needed. */
export function dropKey(): void {
  forgetKey();
  restart();
}

export function giveKey(key: string, isRemembered: boolean): void {
  keepKey(key, isRemembered);
  lock.set(undefined);
  restart();
}

export function begin(of: typeof charts): void {
  charts = of;
  document.addEventListener('visibilitychange', () => isHidden.set(document.visibilityState === 'hidden'));
  isHidden.watch(restart);
  setInterval(() => {
    if (connection.current !== 'live') return;
    void readSystem();
    renewPast();
  }, SYSTEM_EVERY_MS);
  restart();
}
