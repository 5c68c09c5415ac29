/** Attacks over the WebSocket API: browsers open them without a preflight, and do not hide their messages. */
import type { Aim, Row, Surroundings, Target } from './row.ts';
import { page, REBIND, script } from './scripts.ts';

const ALL: readonly Target[] = ['power', 'media', 'process', 'stats'];
const SOCKET = { from: 'foreign', does: 'act', targets: ALL } as const;

/** Reports every message; `address` is an expression. */
const OPEN = (address = `aim.service.replace('http', 'ws') + '/api/ws'`) => `
const socket = new WebSocket(${address});
socket.onopen = () => socket.send(aim.message);
socket.onmessage = (event) => say(event.data);
socket.onerror = () => say('failed: no socket');
`;

const inPage = (code: string) => (aim: Aim, around: Surroundings) => ({ page: page(aim, around, code) });

export const SOCKET_ROWS: readonly Row[] = [
  { ...SOCKET, id: 'socket', method: '`WebSocket`', stage: inPage(OPEN()) },
  {
    ...SOCKET,
    id: 'socket-wrong-key',
    method: '`WebSocket` with a wrong key in its URL',
    stage: inPage(OPEN(`aim.service.replace('http', 'ws') + '/api/ws?api_key=guess'`)),
  },
  {
    ...SOCKET,
    id: 'socket-worker',
    method: '`WebSocket` in a dedicated worker',
    stage: (aim, around) => ({
      page: page(aim, around, `new Worker('worker');`),
      worker: script(aim, around, OPEN()),
    }),
  },
  {
    ...SOCKET,
    id: 'socket-neighbour',
    from: 'neighbour',
    method: "`WebSocket` in a shared worker, from another port of the service's own host",
    stage: (aim, around) => ({
      page: page(aim, around, `new SharedWorker('worker');`),
      worker: script(aim, around, OPEN()),
    }),
  },
  {
    ...SOCKET,
    id: 'socket-sandbox',
    method: '`WebSocket` in a sandboxed frame (origin `null`)',
    stage: (aim, around) => ({
      page: page(aim, around, '', '<iframe sandbox="allow-scripts" src="frame"></iframe>'),
      frame: page(aim, around, OPEN()),
    }),
  },
  {
    ...SOCKET,
    id: 'socket-data-url',
    method: '`WebSocket` in a frame whose document is a `data:` URL (origin `null`)',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        '',
        `<iframe src="data:text/html,${encodeURIComponent(page(aim, around, OPEN()).body)}"></iframe>`,
      ),
    }),
  },
  {
    ...SOCKET,
    id: 'socket-stream',
    method: '`WebSocketStream`',
    only: 'chromium',
    stage: inPage(`attempt(async () => {
      const stream = new WebSocketStream(aim.service.replace('http', 'ws') + '/api/ws');
      const { readable, writable } = await stream.opened;
      await writable.getWriter().write(aim.message);
      const reader = readable.getReader();
      for (let count = 0; count < 4; count++) say((await reader.read()).value);
    });`),
  },
  {
    ...SOCKET,
    id: 'socket-rebound',
    from: 'rebound',
    method: '`WebSocket` to the same origin, after DNS rebinding',
    stage: (aim, around) => ({
      page: page(
        aim,
        around,
        `${REBIND(around.base)} rebind().then(() => { ${OPEN()} }, (error) => say('failed: ' + error));`,
      ),
    }),
  },
];
