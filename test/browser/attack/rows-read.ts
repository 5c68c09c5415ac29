/** Attacks by script that read answers of the service. */
import type { Row } from './row.ts';
import { SERVICE_WORKER } from './rows-workers.ts';
import {
  IN_SHARED_WORKER,
  inDataUrl,
  inPage,
  inSandbox,
  inWorker,
  page,
  rowsLike,
  script,
} from './scripts.ts';

const read = rowsLike({ from: 'foreign', does: 'read', targets: ['stats', 'power', 'media', 'process'] });
/** Rows for which a second target would show nothing new. */
const readStats = rowsLike({ from: 'foreign', does: 'read', targets: ['stats'] });

const FETCH = 'attempt(() => fetch(url).then(readText));';
const fetchWith = (init: string) => inPage(`attempt(() => fetch(url, { ${init} }).then(readText));`);

export const READ_ROWS: readonly Row[] = [
  read('read-fetch', '`fetch`', inPage(FETCH)),
  read('read-credentials', '`fetch` with `credentials: "include"`', fetchWith(`credentials: 'include'`)),
  read(
    'read-wrong-key',
    '`fetch` with a wrong key: every preflight that asks to send a key is granted',
    fetchWith(`headers: { authorization: 'Bearer guess' }`),
  ),
  readStats(
    'read-preflight',
    '`fetch` with a custom header: with a preflight',
    fetchWith(`headers: { 'x-probe': '1' }`),
  ),
  readStats(
    'read-stream',
    '`fetch` of the event stream',
    inPage(`attempt(() => fetch(aim.service + '/api/stream').then(readFirst));`),
  ),
  readStats(
    'read-event-source',
    '`EventSource`',
    inPage(`attempt(() => new Promise((resolve, reject) => {
      const source = new EventSource(aim.service + '/api/stream');
      source.onmessage = (event) => { source.close(); resolve(event.data); };
      source.onerror = () => { source.close(); reject('hidden'); };
    }));`),
  ),
  read(
    'read-xhr',
    '`XMLHttpRequest`',
    inPage(`attempt(() => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('GET', url);
      request.onload = () => resolve(request.responseText);
      request.onerror = () => reject('hidden');
      request.send();
    }));`),
  ),
  readStats(
    'read-module',
    'the answer imported as a JSON module',
    inPage(
      `attempt(() => import(url, { with: { type: 'json' } }).then((module) => JSON.stringify(module.default)));`,
    ),
    { only: 'chromium' },
  ),
  readStats(
    'read-preload',
    '`<link rel=preload as=fetch crossorigin>`, then a `fetch` of the same URL',
    inPage(`attempt(async () => {
      const link = Object.assign(document.createElement('link'), { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: url });
      await new Promise((resolve, reject) => { link.onload = resolve; link.onerror = () => reject('hidden'); document.head.append(link); });
      return await fetch(url).then(readText);
    });`),
  ),
  readStats(
    'read-http-cache',
    'the answer fetched into the HTTP cache by an image, then read with `cache: "force-cache"`',
    inPage(`attempt(async () => {
      const image = new Image();
      await new Promise((resolve) => { image.onload = image.onerror = resolve; image.src = url; });
      return await fetch(url, { cache: 'force-cache' }).then(readText);
    });`),
  ),
  readStats(
    'read-cache-storage',
    'the answer put into a cache of the page (`caches`), then read from it',
    inPage(`attempt(async () => {
      const cache = await caches.open('loot');
      await cache.add(url);
      const kept = await cache.match(url);
      await caches.delete('loot');
      return await kept.text();
    });`),
    { from: 'trusted' },
  ),
  readStats(
    'read-redirect',
    "`fetch` of the attacker's own URL, which redirects to the service",
    inPage(`attempt(() => fetch('/redirect?status=302&to=' + encodeURIComponent(url)).then(readText));`),
  ),
  readStats('read-sandbox', '`fetch` in a sandboxed frame (origin `null`)', inSandbox(FETCH)),
  readStats(
    'read-data-url',
    '`fetch` in a frame whose document is a `data:` URL (origin `null`)',
    inDataUrl(FETCH),
  ),
  readStats('read-worker', '`fetch` in a dedicated worker', inWorker(FETCH)),
  readStats('read-shared-worker', '`fetch` in a shared worker', inWorker(FETCH, IN_SHARED_WORKER)),
  readStats(
    'read-service-worker',
    "a service worker that answers the page's own requests with the service's answers",
    (aim, around) => ({
      page: page(
        aim,
        around,
        `${SERVICE_WORKER} withWorker(() => {
           const frame = document.createElement('iframe'); frame.src = 'frame'; document.body.append(frame);
         });`,
      ),
      frame: page(aim, around, `attempt(() => fetch('through').then(readText));`),
      sw: script(
        aim,
        around,
        `addEventListener('fetch', (event) => { if (event.request.url.endsWith('through')) event.respondWith(fetch(url)); });`,
      ),
    }),
    { from: 'trusted' },
  ),
  readStats('read-neighbour', "`fetch` from another port of the service's own host", inPage(FETCH), {
    from: 'neighbour',
  }),
  readStats('read-listed-and-more', '`fetch` from an origin that starts like a listed one', inPage(FETCH), {
    from: 'listed-and-more',
  }),
  readStats('read-more-and-listed', '`fetch` from an origin that ends like a listed one', inPage(FETCH), {
    from: 'more-and-listed',
  }),
];
