/** Attacks by script that change something: fetch and its relatives, from every kind of context. */
import type { Aim, Row, Surroundings, Target } from './row.ts';
import { page } from './scripts.ts';

const ALL: readonly Target[] = ['power', 'media', 'process'];
export const ACT = { from: 'foreign', does: 'act', targets: ALL } as const;

/** Posts without a type, which the service reads as JSON; needs no preflight, and its answer stays hidden. */
export const POST = `attempt(() => fetch(url, { method: 'POST', mode: 'no-cors', body: body() }).then(() => 'sent'));`;

const inPage = (code: string) => (aim: Aim, around: Surroundings) => ({ page: page(aim, around, code) });

const redirect = (to: string, status: number) => `/redirect?status=${status}&to=${encodeURIComponent(to)}`;

const postTo = (place: string) =>
  `attempt(() => fetch(${JSON.stringify(place)}, { method: 'POST', mode: 'no-cors', body: body() }).then(() => 'sent'));`;

export const FETCH_ROWS: readonly Row[] = [
  {
    ...ACT,
    id: 'fetch-text',
    targets: ['power'],
    method: '`fetch` with `mode: "no-cors"` and a text body',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', mode: 'no-cors', body: 'x' }).then(() => 'sent'));`,
    ),
  },
  {
    ...ACT,
    id: 'fetch-untyped',
    method: '`fetch` with `mode: "no-cors"` and a Blob without a type: JSON without a Content-Type',
    stage: inPage(POST),
  },
  {
    ...ACT,
    id: 'fetch-simple',
    method: '`fetch` with `mode: "cors"` that needs no preflight: sent, although its answer may stay hidden',
    stage: inPage(`attempt(() => fetch(url, { method: 'POST', body: body() }).then(readText));`),
  },
  {
    ...ACT,
    id: 'fetch-preflight',
    method: '`fetch` with `Content-Type: application/json`: with a preflight',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: aim.body ?? '{}' }).then(readText));`,
    ),
  },
  {
    ...ACT,
    id: 'fetch-credentials',
    method: '`fetch` with `credentials: "include"`',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', mode: 'no-cors', credentials: 'include', body: body() }).then(() => 'sent'));`,
    ),
  },
  {
    ...ACT,
    id: 'fetch-wrong-key',
    method: '`fetch` with a wrong key: every preflight that asks to send a key is granted',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', headers: { authorization: 'Bearer guess' }, body: body() }).then(readText));`,
    ),
  },
  {
    ...ACT,
    id: 'fetch-keepalive',
    method: '`fetch` with `keepalive` while the page is unloaded',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `addEventListener('pagehide', () => fetch(url, { method: 'POST', mode: 'no-cors', keepalive: true, body: body() }));
         addEventListener('load', () => setTimeout(() => { location.href = 'elsewhere'; }));`,
      ),
      elsewhere: { body: '<!doctype html>gone' },
    }),
  },
  {
    ...ACT,
    id: 'fetch-no-referrer',
    method: '`fetch` with `referrerPolicy: "no-referrer"`: the browser then sends `Origin: null`',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer', body: body() }).then(() => 'sent'));`,
    ),
  },
  {
    ...ACT,
    id: 'fetch-redirect',
    method: "`fetch` to the attacker's own server, which redirects it with 307",
    stage: (aim, around) => ({
      page: page(aim, around, postTo(redirect(`${aim.service}${aim.path}`, 307))),
    }),
  },
  {
    ...ACT,
    id: 'fetch-two-redirects',
    method:
      '`fetch` redirected with 308 by way of a second foreign site: the browser then sends `Origin: null`',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        postTo(redirect(`${around.accomplice}${redirect(`${aim.service}${aim.path}`, 308)}`, 308)),
      ),
    }),
  },
  {
    ...ACT,
    id: 'fetch-later',
    method: '`fetchLater`: a request that the browser keeps and sends on its own',
    from: 'trusted',
    needsTrust: true,
    only: 'chromium',
    stage: inPage(
      `attempt(() => { fetchLater(url, { method: 'POST', mode: 'no-cors', body: body(), activateAfter: 0 }); return 'kept'; });`,
    ),
  },
  {
    ...ACT,
    id: 'beacon',
    method: '`navigator.sendBeacon` with a Blob without a type',
    stage: inPage(`attempt(() => navigator.sendBeacon(url, body()));`),
  },
  {
    ...ACT,
    id: 'beacon-form',
    targets: ['power'],
    method: '`navigator.sendBeacon` with a FormData, when the page becomes hidden',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `document.addEventListener('visibilitychange', () => {
           const data = new FormData(); data.set('a', 'b'); navigator.sendBeacon(url, data);
         });
         addEventListener('load', () => setTimeout(() => { location.href = 'elsewhere'; }));`,
      ),
      elsewhere: { body: '<!doctype html>gone' },
    }),
  },
  {
    ...ACT,
    id: 'xhr',
    method: '`XMLHttpRequest` that needs no preflight',
    stage: inPage(`attempt(() => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', url);
      request.onload = () => resolve(request.responseText);
      request.onerror = () => reject('hidden');
      request.send(body());
    }));`),
  },
  {
    ...ACT,
    id: 'xhr-synchronous',
    method: '`XMLHttpRequest` that is synchronous, while the page is unloaded',
    targets: ['power'],
    only: 'firefox',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `addEventListener('pagehide', () => {
           const request = new XMLHttpRequest(); request.open('POST', url, false); request.send(body());
         });
         addEventListener('load', () => setTimeout(() => { location.href = 'elsewhere'; }));`,
      ),
      elsewhere: { body: '<!doctype html>gone' },
    }),
  },
  {
    ...ACT,
    id: 'sandbox',
    method: '`fetch` in a sandboxed frame (origin `null`)',
    stage: (aim, around) => ({
      page: page(aim, around, '', '<iframe sandbox="allow-scripts" src="frame"></iframe>'),
      frame: page(aim, around, POST),
    }),
  },
  {
    ...ACT,
    id: 'data-url',
    method: '`fetch` in a frame whose document is a `data:` URL (origin `null`)',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        `<iframe src="data:text/html,${encodeURIComponent(page(aim, around, POST).body)}"></iframe>`,
      ),
    }),
  },
  {
    ...ACT,
    id: 'neighbour',
    from: 'neighbour',
    method: "`fetch` from another port of the service's own host: the same site, another origin",
    stage: inPage(POST),
  },
  {
    ...ACT,
    id: 'listed-and-more',
    from: 'listed-and-more',
    method: '`fetch` from an origin that starts like a listed one',
    stage: inPage(POST),
  },
  {
    ...ACT,
    id: 'more-and-listed',
    from: 'more-and-listed',
    method: '`fetch` from an origin that ends like a listed one',
    stage: inPage(POST),
  },
  {
    ...ACT,
    id: 'listed-elsewhere',
    from: 'listed-elsewhere',
    method: '`fetch` from a listed name on another port',
    stage: inPage(POST),
  },
];
