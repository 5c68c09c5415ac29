/** Attacks by DNS rebinding: the page's own name leads to the service, so for the browser nothing is foreign. */
import type { Aim, Row, Surroundings, Target } from './row.ts';
import { form, page, REBIND, SUBMIT, script } from './scripts.ts';

const ACTS: readonly Target[] = ['power', 'media', 'process'];
const READS: readonly Target[] = ['stats', 'power', 'media', 'process'];
const ACT = { from: 'rebound', does: 'act', targets: ACTS } as const;
const READ = { from: 'rebound', does: 'read', targets: READS } as const;
const STATS = { ...READ, targets: ['stats'] } as const;
const POWER = { ...ACT, targets: ['power'] } as const;

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
  {
    ...ACT,
    id: 'rebound-fetch',
    method: '`fetch` of the same origin, with JSON',
    stage: afterwards(POST_JSON),
  },
  {
    ...POWER,
    id: 'rebound-form',
    method: 'a form to the same origin',
    stage: (aim, around) => ({
      page: page(aim, around, `${REBIND(around.base)} rebind().then(() => { ${SUBMIT} });`, form(aim)),
    }),
  },
  {
    ...ACT,
    id: 'rebound-beacon',
    method: '`navigator.sendBeacon`',
    stage: afterwards('navigator.sendBeacon(url, body())'),
  },
  {
    ...ACT,
    id: 'rebound-worker',
    method: '`fetch` in a worker that was started before',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `${REBIND(around.base)} const worker = new Worker('worker');
         worker.onmessage = () => attempt(async () => { await rebind(); worker.postMessage('go'); return 'sent'; });`,
      ),
      worker: script(aim, around, `onmessage = () => attempt(() => ${POST_JSON}); postMessage('ready');`),
    }),
  },
  {
    ...ACT,
    id: 'rebound-dot',
    from: 'rebound-dot',
    method: '`fetch`, with a trailing dot in the name',
    stage: afterwards(POST_JSON),
  },
  {
    ...ACT,
    id: 'rebound-lookalike',
    from: 'rebound-lookalike',
    method: '`fetch`, from a name that starts like an address (`127.0.0.1.…`)',
    stage: afterwards(POST_JSON),
  },
  {
    ...READ,
    id: 'rebound-read-fetch',
    method: '`fetch` of the same origin',
    stage: afterwards('fetch(url).then(readText)'),
  },
  {
    ...STATS,
    id: 'rebound-read-xhr',
    method: '`XMLHttpRequest`, synchronous',
    stage: afterwards(
      `(() => { const request = new XMLHttpRequest(); request.open('GET', url, false); request.send(); return request.responseText; })()`,
    ),
  },
  {
    ...STATS,
    id: 'rebound-read-event-source',
    method: '`EventSource`',
    stage: afterwards(`new Promise((resolve, reject) => {
      const source = new EventSource('/api/stream');
      source.onmessage = (event) => { source.close(); resolve(event.data); };
      source.onerror = () => { source.close(); reject('hidden'); };
    })`),
  },
  {
    ...STATS,
    id: 'rebound-read-frame',
    method: '`<iframe>`, its document read',
    stage: afterwards(
      documentOf(`const element = Object.assign(document.createElement('iframe'), { src: url });`),
    ),
  },
  {
    ...STATS,
    id: 'rebound-read-object',
    method: '`<object>`, its document read',
    stage: afterwards(
      documentOf(
        `const element = Object.assign(document.createElement('object'), { data: url, type: 'text/html' });`,
      ),
    ),
  },
  {
    ...STATS,
    id: 'rebound-read-window',
    method: 'a new window, its document read by its opener',
    isClicked: true,
    // Firefox shows JSON in a viewer of its own, which is of another origin.
    only: 'chromium',
    stage: (aim, around) => ({
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
  },
  {
    ...STATS,
    id: 'rebound-read-module',
    method: 'the answer imported as a JSON module',
    only: 'chromium',
    stage: afterwards(
      `import(url, { with: { type: 'json' } }).then((module) => JSON.stringify(module.default))`,
    ),
  },
];
