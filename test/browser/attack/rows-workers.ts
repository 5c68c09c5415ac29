/** Attacks from workers of every kind that change something. */
import type { Row } from './row.ts';
import { POST } from './rows-fetch.ts';
import { IN_SHARED_WORKER, inWorker, page, rowsLike, script } from './scripts.ts';

const act = rowsLike({ from: 'foreign', does: 'act', targets: ['power', 'media', 'process'] });

/** Registers the worker `sw` and hands the active one to `f`. */
export const SERVICE_WORKER = `
const withWorker = async (f) => {
  const registration = await navigator.serviceWorker.register('sw');
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  while (worker.state !== 'activated') await new Promise((done) => worker.addEventListener('statechange', done, { once: true }));
  await f(worker);
};
`;

export const WORKER_ROWS: readonly Row[] = [
  act('worker', '`fetch` in a dedicated worker', inWorker(POST)),
  act(
    'worker-blob',
    '`fetch` in a worker from a `blob:` URL',
    inWorker(
      POST,
      `fetch('worker').then((answer) => answer.blob()).then((blob) => new Worker(URL.createObjectURL(blob)));`,
    ),
  ),
  act('worker-data', '`fetch` in a worker from a `data:` URL (origin `null`)', (aim, around) => {
    const code = JSON.stringify(script(aim, around, POST).body);
    return { page: page(aim, around, `new Worker('data:text/javascript,' + encodeURIComponent(${code}));`) };
  }),
  act('shared-worker', '`fetch` in a shared worker', inWorker(POST, IN_SHARED_WORKER)),
  act(
    'service-worker',
    '`fetch` in a service worker',
    (aim, around) => ({
      page: page(
        aim,
        around,
        `${SERVICE_WORKER} attempt(() => withWorker((worker) => worker.postMessage('go')));`,
      ),
      sw: script(
        aim,
        around,
        `addEventListener('message', (event) => event.waitUntil(${POST.slice(0, -1)}));`,
      ),
    }),
    { from: 'trusted' },
  ),
];
