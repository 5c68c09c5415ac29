/** Attacks over the WebSocket API: browsers open them without a preflight, and do not hide their messages. */
import type { Row } from './row.ts';
import {
  IN_SHARED_WORKER,
  inDataUrl,
  inPage,
  inSandbox,
  inWorker,
  page,
  REBIND,
  rowsLike,
} from './scripts.ts';

const act = rowsLike({ from: 'foreign', does: 'act', targets: ['power', 'media', 'process', 'stats'] });

/** Reports every message. */
const open = (query = '') => `
const socket = new WebSocket(aim.service.replace('http', 'ws') + '/api/ws${query}');
socket.onopen = () => socket.send(aim.message);
socket.onmessage = (event) => say(event.data);
socket.onerror = () => say('failed: no socket');
`;

export const SOCKET_ROWS: readonly Row[] = [
  act('socket', '`WebSocket`', inPage(open())),
  act('socket-wrong-key', '`WebSocket` with a wrong key in its URL', inPage(open('?api_key=guess'))),
  act('socket-worker', '`WebSocket` in a dedicated worker', inWorker(open())),
  act(
    'socket-neighbour',
    "`WebSocket` in a shared worker, from another port of the service's own host",
    inWorker(open(), IN_SHARED_WORKER),
    { from: 'neighbour' },
  ),
  act('socket-sandbox', '`WebSocket` in a sandboxed frame (origin `null`)', inSandbox(open())),
  act(
    'socket-data-url',
    '`WebSocket` in a frame whose document is a `data:` URL (origin `null`)',
    inDataUrl(open()),
  ),
  act(
    'socket-stream',
    '`WebSocketStream`',
    inPage(`attempt(async () => {
      const stream = new WebSocketStream(aim.service.replace('http', 'ws') + '/api/ws');
      const { readable, writable } = await stream.opened;
      await writable.getWriter().write(aim.message);
      const reader = readable.getReader();
      for (let count = 0; count < 4; count++) say((await reader.read()).value);
    });`),
    { only: 'chromium' },
  ),
  act(
    'socket-rebound',
    '`WebSocket` to the same origin, after DNS rebinding',
    (aim, around) => ({
      page: page(
        aim,
        around,
        `${REBIND(around.base)} rebind().then(() => { ${open()} }, (error) => say('failed: ' + error));`,
      ),
    }),
    { from: 'rebound' },
  ),
];
