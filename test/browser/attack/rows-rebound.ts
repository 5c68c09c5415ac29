/** Attacks by DNS rebinding: the page's own name leads to the service, so for the browser nothing is foreign. */
import type { Aim, Row, Surroundings } from './row.ts';
import { form, page, REBIND, rowsLike, SUBMIT, script } from './scripts.ts';

const act = rowsLike({ from: 'rebound', does: 'act', targets: ['power', 'media', 'process'] });
const read = rowsLike({ from: 'rebound', does: 'read', targets: ['stats', 'power', 'media', 'process'] });
const readStats = rowsLike({ from: 'rebound', does: 'read', targets: ['stats'] });

const POST_JSON = `fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: aim.body ?? '{}' }).then(readText)`;

/** Runs `code`, an expression, once the name has been rebound. */
const afterwards = (code: string) => (aim: Aim, around: Surroundings) => ({
  page: page(
    aim,
    around,
    `${REBIND(around.base)} attempt(async () => { await rebind(); return await ${code}; });`,
  ),
});

/** The text of a document of the page's own origin, when it has come. */
const documentOf = (element: string) => `
new Promise((resolve, reject) => {
  ${element}
  document.body.append(element);
  element.onload = () => resolve(element.contentDocument?.body?.innerText ?? 'failed: no document');
  element.onerror = () => reject('hidden');
})`;

export const REBOUND_ROWS: readonly Row[] = [
  act('rebound-fetch', '`fetch` of the same origin, with JSON', afterwards(POST_JSON)),
  act(
    'rebound-form',
    'a form to the same origin',
    (aim, around) => ({
      page: page(aim, around, `${REBIND(around.base)} rebind().then(() => { ${SUBMIT} });`, form(aim)),
    }),
    { targets: ['power'] },
  ),
  act('rebound-beacon', '`navigator.sendBeacon`', afterwards('navigator.sendBeacon(url, body())')),
  act('rebound-worker', '`fetch` in a worker that was started before', (aim, around) => ({
    page: page(
      aim,
      around,
      `${REBIND(around.base)} const worker = new Worker('worker');
       worker.onmessage = () => attempt(async () => { await rebind(); worker.postMessage('go'); return 'sent'; });`,
    ),
    worker: script(aim, around, `onmessage = () => attempt(() => ${POST_JSON}); postMessage('ready');`),
  })),
  act('rebound-dot', '`fetch`, with a trailing dot in the name', afterwards(POST_JSON), {
    from: 'rebound-dot',
  }),
  act(
    'rebound-lookalike',
    '`fetch`, from a name that starts like an address (`127.0.0.1.…`)',
    afterwards(POST_JSON),
    { from: 'rebound-lookalike' },
  ),
  read('rebound-read-fetch', '`fetch` of the same origin', afterwards('fetch(url).then(readText)')),
  readStats(
    'rebound-read-xhr',
    '`XMLHttpRequest`, synchronous',
    afterwards(
      `(() => { const request = new XMLHttpRequest(); request.open('GET', url, false); request.send(); return request.responseText; })()`,
    ),
  ),
  readStats(
    'rebound-read-event-source',
    '`EventSource`',
    afterwards(`new Promise((resolve, reject) => {
      const source = new EventSource('/api/stream');
      source.onmessage = (event) => { source.close(); resolve(event.data); };
      source.onerror = () => { source.close(); reject('hidden'); };
    })`),
  ),
  readStats(
    'rebound-read-frame',
    '`<iframe>`, its document read',
    afterwards(documentOf(`const element = Object.assign(document.createElement('iframe'), { src: url });`)),
  ),
  readStats(
    'rebound-read-object',
    '`<object>`, its document read',
    afterwards(
      documentOf(
        `const element = Object.assign(document.createElement('object'), { data: url, type: 'text/html' });`,
      ),
    ),
  ),
  readStats(
    'rebound-read-window',
    'a new window, its document read by its opener',
    (aim, around) => ({
      page: page(
        aim,
        around,
        `${REBIND(around.base)} const isRebound = rebind();
         document.getElementById('go').onclick = () => {
           const opened = open('about:blank');
           attempt(async () => {
             await isRebound;
             opened.location = url;
             for (let tries = 0; tries < 100; tries++) {
               await new Promise((resolve) => setTimeout(resolve, 20));
               const text = opened.location.href === url && opened.document.readyState === 'complete' && opened.document.body;
               if (text) return opened.document.body.innerText;
             }
             return 'failed: no document';
           });
         };`,
        '<button id="go">Win a prize</button>',
      ),
    }),
    // Firefox shows JSON in a viewer of its own, which is of another origin.
    { isClicked: true, only: 'chromium' },
  ),
  readStats(
    'rebound-read-module',
    'the answer imported as a JSON module',
    afterwards(`import(url, { with: { type: 'json' } }).then((module) => JSON.stringify(module.default))`),
    { only: 'chromium' },
  ),
];
