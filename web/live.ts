/** Keeps the page live: the samples of its stream, and requests that are renewed with each connection. */
import { type Charts, closePast, continuePast, openPast, renewPast } from './past.ts';
import { apiPath, getJson, HOST_ID } from './requests.ts';
import { readSample, type Sample, type System } from './sample.ts';
import { Value } from './value.ts';
import { connection, follow } from './visit.ts';

export const sample = new Value<Sample | undefined>(undefined);
export const system = new Value<System | undefined>(undefined);

/** Empty until known. */
export const hostName = (): string => system.current?.hostname ?? sample.current?.host ?? HOST_ID ?? '';

/** The service's clock minus this one, in seconds. */
let clockOffset = 0;
export const serviceNow = (): number => Date.now() / 1000 + clockOffset;

/** A reload of the configuration may switch features on and off. */
const SYSTEM_EVERY_MS = 60_000;
/** A machine is shown as lost after this many intervals, and SILENT_MS more, although its hub answers. */
const SILENT_INTERVALS = 3;
const SILENT_MS = 5000;

let silence: ReturnType<typeof setTimeout> | undefined;

function take(next: Sample, isFirst: boolean): void {
  clockOffset = next.timestamp - Date.now() / 1000;
  continuePast(next, isFirst);
  sample.set(next);
  if (isFirst) void readSystem();
  clearTimeout(silence);
  if (HOST_ID !== undefined)
    silence = setTimeout(
      () => connection.set('lost'),
      SILENT_INTERVALS * 1000 * next.interval_seconds + SILENT_MS,
    );
}

async function readSystem(): Promise<void> {
  // The stream reports when the service cannot be reached, or refuses.
  await getJson<System>('/api/system?detail=1').then(
    (next) => system.set(next),
    () => undefined,
  );
}

export function begin(charts: Charts): void {
  setInterval(() => {
    if (connection.current !== 'live') return;
    void readSystem();
    renewPast();
  }, SYSTEM_EVERY_MS);
  follow({
    path: apiPath('api/stream'),
    detail: true,
    onBegin: () => openPast(charts),
    onMessage(message, isFirst) {
      const next = readSample(message);
      if (next !== undefined) take(next, isFirst);
    },
    onEnd() {
      clearTimeout(silence);
      closePast();
    },
  });
}
