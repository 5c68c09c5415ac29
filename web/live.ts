/** Keeps the page alive: the stream with its reconnects, rest while hidden, and what is asked anew with each connection. */
import { History, pointsOf } from './history.ts';
import { getJson, keepKey, lock, RequestError } from './requests.ts';
import type { Sample, System } from './sample.ts';
import { readStream } from './stream.ts';
import { Value } from './value.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'resting' | 'locked' | 'refused';

export const connection = new Value<Connection>('connecting');
export const sample = new Value<Sample | undefined>(undefined);
export const system = new Value<System | undefined>(undefined);
export const isHidden = new Value(document.visibilityState === 'hidden');
export const history = new History();

/** The service's clock less this one, in seconds. */
let clockOffset = 0;
export const serviceNow = (): number => Date.now() / 1000 + clockOffset;

const FIRST_RETRY_MS = 500;
const MOST_RETRY_MS = 5000;
/** A reload of the configuration may switch features on and off. */
const SYSTEM_EVERY_MS = 60_000;

function take(data: string): void {
  // The stream's messages are what the service's own encoder makes of these types.
  const next = JSON.parse(data) as Sample;
  clockOffset = next.timestamp - Date.now() / 1000;
  history.push(next.timestamp, next.interval_seconds, pointsOf(next));
  sample.set(next);
  if (connection.current !== 'live') {
    connection.set('live');
    void readSystem();
  }
}

async function readSystem(): Promise<void> {
  // The stream says it when the service can't be reached, or refuses.
  await getJson<System>('/api/system?detail=1').then(
    (next) => system.set(next),
    () => undefined,
  );
}

/** Ends early when the page is shown again, or a key was given. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function stateAfter(error: unknown): Connection {
  if (error instanceof RequestError && error.status === 401) return 'locked';
  if (error instanceof RequestError && error.status === 403) return 'refused';
  return 'lost';
}

/** One visit: from when the page is shown, or a key was given, until it is hidden. */
async function visit(signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    const before = sample.current;
    const error = await readStream('/api/stream?detail=1', { signal, onData: take }).catch((e: unknown) => e);
    if (signal.aborted) return;
    if (sample.current !== before) failures = 0;
    connection.set(stateAfter(error));
    // Only a key helps now.
    if (connection.current === 'locked') return;
    const wait = Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures++);
    // Not all pages of a restarted service at once.
    await pause(wait * (0.75 + Math.random() / 2), signal);
  }
}

let visiting = new AbortController();

function restart(): void {
  visiting.abort();
  visiting = new AbortController();
  if (isHidden.current) {
    connection.set('resting');
    return;
  }
  connection.set('connecting');
  void visit(visiting.signal);
}

export function giveKey(key: string): void {
  keepKey(key);
  lock.set(undefined);
  restart();
}

export function begin(): void {
  document.addEventListener('visibilitychange', () => isHidden.set(document.visibilityState === 'hidden'));
  isHidden.watch(restart);
  setInterval(() => {
    if (connection.current === 'live') void readSystem();
  }, SYSTEM_EVERY_MS);
  restart();
}
