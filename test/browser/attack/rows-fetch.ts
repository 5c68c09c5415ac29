/** Attacks by script that change something: fetch and its relatives, from every kind of context. */
import type { Row } from './row.ts';
import { inDataUrl, inPage, inSandbox, page, redirect, rowsLike } from './scripts.ts';

const act = rowsLike({ from: 'foreign', does: 'act', targets: ['power', 'media', 'process'] });

/** Posts `body` to `place`, both expressions, without a preflight; the answer stays hidden. `init`: more of the request. */
const post = (init = '', place = 'url', body = 'body()') =>
  `attempt(() => fetch(${place}, { method: 'POST', mode: 'no-cors', ${init} body: ${body} }).then(() => 'sent'));`;

/** Without a type, which the service reads as JSON. */
export const POST = post();

/** The same, read: `init` may need a preflight. */
const postAndRead = (init = '', body = 'body()') =>
  `attempt(() => fetch(url, { method: 'POST', ${init} body: ${body} }).then(readText));`;

/** Runs `code`, and leaves the page as soon as it has loaded. */
const leaving =
  (code: string): Row['stage'] =>
  (aim, around) => ({
    page: page(
      aim,
      around,
      `${code} addEventListener('load', () => setTimeout(() => { location.href = 'elsewhere'; }));`,
    ),
    elsewhere: { body: '<!doctype html>gone' },
  });

const POWER: Partial<Row> = { targets: ['power'] };

export const FETCH_ROWS: readonly Row[] = [
  act('fetch-text', '`fetch` with `mode: "no-cors"` and a text body', inPage(post('', 'url', `'x'`)), POWER),
  act(
    'fetch-untyped',
    '`fetch` with `mode: "no-cors"` and a Blob without a type: JSON without a Content-Type',
    inPage(POST),
  ),
  act(
    'fetch-simple',
    '`fetch` with `mode: "cors"` that needs no preflight: sent, although its answer may stay hidden',
    inPage(postAndRead()),
  ),
  act(
    'fetch-preflight',
    '`fetch` with `Content-Type: application/json`: with a preflight',
    inPage(postAndRead(`headers: { 'content-type': 'application/json' },`, `aim.body ?? '{}'`)),
  ),
  act('fetch-credentials', '`fetch` with `credentials: "include"`', inPage(post(`credentials: 'include',`))),
  act(
    'fetch-wrong-key',
    '`fetch` with a wrong key: every preflight that asks to send a key is granted',
    inPage(postAndRead(`headers: { authorization: 'Bearer guess' },`)),
  ),
  act(
    'fetch-keepalive',
    '`fetch` with `keepalive` while the page is unloaded',
    leaving(
      `addEventListener('pagehide', () => fetch(url, { method: 'POST', mode: 'no-cors', keepalive: true, body: body() }));`,
    ),
  ),
  act(
    'fetch-no-referrer',
    '`fetch` with `referrerPolicy: "no-referrer"`: the browser then sends `Origin: null`',
    inPage(post(`referrerPolicy: 'no-referrer',`)),
  ),
  act(
    'fetch-redirect',
    "`fetch` to the attacker's own server, which redirects it with 307",
    (aim, around) => ({
      page: page(aim, around, post('', JSON.stringify(redirect(`${aim.service}${aim.path}`, 307)))),
    }),
  ),
  act(
    'fetch-two-redirects',
    '`fetch` redirected with 308 by way of a second foreign site: the browser then sends `Origin: null`',
    (aim, around) => {
      const second = `${around.accomplice}${redirect(`${aim.service}${aim.path}`, 308)}`;
      return { page: page(aim, around, post('', JSON.stringify(redirect(second, 308)))) };
    },
  ),
  act(
    'fetch-later',
    '`fetchLater`: a request that the browser keeps and sends on its own',
    inPage(
      `attempt(() => { fetchLater(url, { method: 'POST', mode: 'no-cors', body: body(), activateAfter: 0 }); return 'kept'; });`,
    ),
    { from: 'trusted', needsTrust: true, only: 'chromium' },
  ),
  act(
    'beacon',
    '`navigator.sendBeacon` with a Blob without a type',
    inPage(`attempt(() => navigator.sendBeacon(url, body()));`),
  ),
  act(
    'beacon-form',
    '`navigator.sendBeacon` with a FormData, when the page becomes hidden',
    leaving(`document.addEventListener('visibilitychange', () => {
      const data = new FormData(); data.set('a', 'b'); navigator.sendBeacon(url, data);
    });`),
    POWER,
  ),
  act(
    'xhr',
    '`XMLHttpRequest` that needs no preflight',
    inPage(`attempt(() => new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', url);
      request.onload = () => resolve(request.responseText);
      request.onerror = () => reject('hidden');
      request.send(body());
    }));`),
  ),
  act(
    'xhr-synchronous',
    '`XMLHttpRequest` that is synchronous, while the page is unloaded',
    leaving(`addEventListener('pagehide', () => {
      const request = new XMLHttpRequest(); request.open('POST', url, false); request.send(body());
    });`),
    { ...POWER, only: 'firefox' },
  ),
  act('sandbox', '`fetch` in a sandboxed frame (origin `null`)', inSandbox(POST)),
  act('data-url', '`fetch` in a frame whose document is a `data:` URL (origin `null`)', inDataUrl(POST)),
  act(
    'neighbour',
    "`fetch` from another port of the service's own host: the same site, another origin",
    inPage(POST),
    { from: 'neighbour' },
  ),
  act('listed-and-more', '`fetch` from an origin that starts like a listed one', inPage(POST), {
    from: 'listed-and-more',
  }),
  act('more-and-listed', '`fetch` from an origin that ends like a listed one', inPage(POST), {
    from: 'more-and-listed',
  }),
  act('listed-elsewhere', '`fetch` from a listed name on another port', inPage(POST), {
    from: 'listed-elsewhere',
  }),
];
