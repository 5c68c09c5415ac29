/** Attacks by script that read answers of the service. */
import type { Aim, Row, Surroundings, Target } from './row.ts';
import { SERVICE_WORKER } from './rows-workers.ts';
import { page, script } from './scripts.ts';

const ALL: readonly Target[] = ['stats', 'power', 'media', 'process'];
const READ = { from: 'foreign', does: 'read', targets: ALL } as const;
/** Rows for which a second target would show nothing new. */
const STATS = { ...READ, targets: ['stats'] } as const;

const FETCH = 'attempt(() => fetch(url).then(readText));';
const inPage = (code: string) => (aim: Aim, around: Surroundings) => ({ page: page(aim, around, code) });

export const READ_ROWS: readonly Row[] = [
  { ...READ, id: 'read-fetch', method: '`fetch`', stage: inPage(FETCH) },
  {
    ...READ,
    id: 'read-credentials',
    method: '`fetch` with `credentials: "include"`',
    stage: inPage(`attempt(() => fetch(url, { credentials: 'include' }).then(readText));`),
  },
  {
    ...READ,
    id: 'read-wrong-key',
    method: '`fetch` with a wrong key: every preflight that asks to send a key is granted',
    stage: inPage(
      `attempt(() => fetch(url, { headers: { authorization: 'Bearer guess' } }).then(readText));`,
    ),
  },
  {
    ...STATS,
    id: 'read-preflight',
    method: '`fetch` with a custom header: with a preflight',
    stage: inPage(`attempt(() => fetch(url, { headers: { 'x-probe': '1' } }).then(readText));`),
  },
  {
    ...STATS,
    id: 'read-stream',
    method: '`fetch` of the event stream',
    stage: inPage(`attempt(() => fetch(aim.service + '/api/stream').then(readFirst));`),
  },
  {
    ...STATS,
    id: 'read-event-source',
    method: '`EventSource`',
    stage: inPage(`attempt(() => new Promise((resolve, reject) => {
      const source = new EventSource(aim.service + '/api/stream');
      source.onmessage = (event) => { source.close(); resolve(event.data); };
      source.onerror = () => { source.close(); reject('hidden'); };
    }));`),
  },
  {
    ...READ,
    id: 'read-xhr',
    method: '`XMLHttpRequest`',
    stage: inPage(`attempt(() => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('GET', url);
      request.onload = () => resolve(request.responseText);
      request.onerror = () => reject('hidden');
      request.send();
    }));`),
  },
  {
    ...STATS,
    id: 'read-module',
    method: 'the answer imported as a JSON module',
    only: 'chromium',
    stage: inPage(
      `attempt(() => import(url, { with: { type: 'json' } }).then((module) => JSON.stringify(module.default)));`,
    ),
  },
  {
    ...STATS,
    id: 'read-preload',
    method: '`<link rel=preload as=fetch crossorigin>`, then a `fetch` of the same URL',
    stage: inPage(`attempt(async () => {
      const link = Object.assign(document.createElement('link'), { rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: url });
      await new Promise((resolve, reject) => { link.onload = resolve; link.onerror = () => reject('hidden'); document.head.append(link); });
      return await fetch(url).then(readText);
    });`),
  },
  {
    ...STATS,
    id: 'read-http-cache',
    method: 'the answer fetched into the HTTP cache by an image, then read with `cache: "force-cache"`',
    stage: inPage(`attempt(async () => {
      const image = new Image();
      await new Promise((resolve) => { image.onload = image.onerror = resolve; image.src = url; });
      return await fetch(url, { cache: 'force-cache' }).then(readText);
    });`),
  },
  {
    ...STATS,
    id: 'read-cache-storage',
    from: 'trusted',
    method: 'the answer put into a cache of the page (`caches`), then read from it',
    stage: inPage(`attempt(async () => {
      const cache = await caches.open('loot');
      await cache.add(url);
      const kept = await cache.match(url);
      await caches.delete('loot');
      return await kept.text();
    });`),
  },
  {
    ...STATS,
    id: 'read-redirect',
    method: "`fetch` of the attacker's own URL, which redirects to the service",
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `attempt(() => fetch('/redirect?status=302&to=' + encodeURIComponent(url)).then(readText));`,
      ),
    }),
  },
  {
    ...STATS,
    id: 'read-sandbox',
    method: '`fetch` in a sandboxed frame (origin `null`)',
    stage: (aim, around) => ({
      page: page(aim, around, '', '<iframe sandbox="allow-scripts" src="frame"></iframe>'),
      frame: page(aim, around, FETCH),
    }),
  },
  {
    ...STATS,
    id: 'read-data-url',
    method: '`fetch` in a frame whose document is a `data:` URL (origin `null`)',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        `<iframe src="data:text/html,${encodeURIComponent(page(aim, around, FETCH).body)}"></iframe>`,
      ),
    }),
  },
  {
    ...STATS,
    id: 'read-worker',
    method: '`fetch` in a dedicated worker',
    stage: (aim, around) => ({
      page: page(aim, around, `new Worker('worker');`),
      worker: script(aim, around, FETCH),
    }),
  },
  {
    ...STATS,
    id: 'read-shared-worker',
    method: '`fetch` in a shared worker',
    stage: (aim, around) => ({
      page: page(aim, around, `new SharedWorker('worker');`),
      worker: script(aim, around, FETCH),
    }),
  },
  {
    ...STATS,
    id: 'read-service-worker',
    from: 'trusted',
    method: "a service worker that answers the page's own requests with the service's answers",
    stage: (aim, around) => ({
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
  },
  {
    ...STATS,
    id: 'read-neighbour',
    from: 'neighbour',
    method: "`fetch` from another port of the service's own host",
    stage: inPage(FETCH),
  },
  {
    ...STATS,
    id: 'read-listed-and-more',
    from: 'listed-and-more',
    method: '`fetch` from an origin that starts like a listed one',
    stage: inPage(FETCH),
  },
  {
    ...STATS,
    id: 'read-more-and-listed',
    from: 'more-and-listed',
    method: '`fetch` from an origin that ends like a listed one',
    stage: inPage(FETCH),
  },
];
