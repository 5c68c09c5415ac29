/** Attacks from workers of every kind that change something. */
import type { Row } from './row.ts';
import { ACT, POST } from './rows-fetch.ts';
import { page, script } from './scripts.ts';

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
  {
    ...ACT,
    id: 'worker',
    method: '`fetch` in a dedicated worker',
    stage: (aim, around) => ({
      page: page(aim, around, `new Worker('worker');`),
      worker: script(aim, around, POST),
    }),
  },
  {
    ...ACT,
    id: 'worker-blob',
    method: '`fetch` in a worker from a `blob:` URL',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `fetch('worker').then((answer) => answer.blob()).then((blob) => new Worker(URL.createObjectURL(blob)));`,
      ),
      worker: script(aim, around, POST),
    }),
  },
  {
    ...ACT,
    id: 'worker-data',
    method: '`fetch` in a worker from a `data:` URL (origin `null`)',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `new Worker('data:text/javascript,' + encodeURIComponent(${JSON.stringify(script(aim, around, POST).body)}));`,
      ),
    }),
  },
  {
    ...ACT,
    id: 'shared-worker',
    method: '`fetch` in a shared worker',
    stage: (aim, around) => ({
      page: page(aim, around, `new SharedWorker('worker');`),
      worker: script(aim, around, POST),
    }),
  },
  {
    ...ACT,
    id: 'service-worker',
    from: 'trusted',
    method: '`fetch` in a service worker',
    stage: (aim, around) => ({
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
  },
];
