/** Messages over /api/ws: what is understood, what is refused and why. */
import t from 'tap';
import { OPS, readSocketMessage, type SocketFlaw, type SocketRequest } from '#src/wire/socket.js';

interface Asserting {
  fail(message: string): unknown;
}

function requestOf(t: Asserting, message: unknown): SocketRequest | undefined {
  const read = readSocketMessage(JSON.stringify(message));
  if (read.isSound) return read.request;
  t.fail(`${JSON.stringify(message)}: ${read.flaw.message}`);
  return undefined;
}

function flawOf(t: Asserting, text: string): SocketFlaw | undefined {
  const read = readSocketMessage(text);
  if (!read.isSound) return read.flaw;
  t.fail(`${text} was understood`);
  return undefined;
}

t.test('each op with the least that it needs, and its defaults', async (t) => {
  const cases: Readonly<Record<keyof typeof OPS, readonly [given: object | undefined, read: object]>> = {
    subscribe: [{ topics: ['stats'] }, { topics: ['stats'], mode: 'replace', detail: false }],
    unsubscribe: [undefined, {}],
    get: [{ topics: [] }, { topics: [], detail: false }],
    media: [{ action: 'play' }, { action: 'play' }],
    process_list: [{}, { sort: 'cpu', limit: 1000, query: '', grouped: true }],
    process_details: [{ pid: 1 }, { pid: 1 }],
    process_kill: [{ name: 'x' }, { name: 'x', signal: 'term', tree: false, timeout_ms: 3000 }],
    process_launch: [{ app: 'editor' }, { app: 'editor', args: [] }],
    power: [{ action: 'cancel' }, { action: 'cancel', delay: 0, force: false }],
    wake: [{ host: 'nas' }, { host: 'nas' }],
    history: [{}, { series: [], since: -3600 }],
    process_history: [{ at: -60 }, { at: -60 }],
    ping: [undefined, {}],
  };
  for (const [op, [data, read]] of Object.entries(cases))
    t.strictSame(requestOf(t, { op, data }), { op, id: undefined, data: read }, op);
});

t.test('ids: strings and integers, nothing that would come back as another', async (t) => {
  for (const id of ['', 'a', 'x'.repeat(128), 0, -7, 2 ** 53 - 1])
    t.equal(requestOf(t, { op: 'ping', id })?.id, id);
  for (const id of [1.5, 2 ** 53, null, true, [1], {}, 'x'.repeat(129)]) {
    const flaw = flawOf(t, JSON.stringify({ op: 'ping', id }));
    t.match(flaw, { code: 'INVALID_DATA', message: /^id must be/ }, JSON.stringify(id));
    t.equal(flaw?.id, undefined);
  }
});

t.test('an invalid message is answered with the reason, and with the id if it has one', async (t) => {
  const cases: readonly [text: string, flaw: Partial<SocketFlaw>][] = [
    ['', { code: 'PARSE_ERROR', id: undefined }],
    ['{"op":"ping"', { code: 'PARSE_ERROR' }],
    ['null', { code: 'PARSE_ERROR' }],
    ['[{"op":"ping"}]', { code: 'PARSE_ERROR' }],
    ['"ping"', { code: 'PARSE_ERROR' }],
    ['{"id":3}', { code: 'INVALID_DATA', id: 3, message: 'The field op is missing.' }],
    ['{"op":3,"id":"a"}', { code: 'INVALID_DATA', id: 'a', message: 'op must be a string.' }],
    ['{"op":"constructor","id":1}', { code: 'UNKNOWN_OP', id: 1, allowed: Object.keys(OPS) }],
    ['{"op":"__proto__"}', { code: 'UNKNOWN_OP' }],
    ['{"op":"PING"}', { code: 'UNKNOWN_OP' }],
    ['{"op":"ping","data":[]}', { code: 'INVALID_DATA', message: 'data must be an object.' }],
    ['{"op":"ping","data":null}', { code: 'INVALID_DATA' }],
    ['{"op":"subscribe","id":1}', { code: 'INVALID_DATA', id: 1, message: 'The field topics is missing.' }],
    ['{"op":"subscribe","data":{"topics":"stats"}}', { code: 'INVALID_DATA' }],
    ['{"op":"subscribe","data":{"topics":[1]}}', { code: 'INVALID_DATA' }],
    ['{"op":"subscribe","data":{"topics":[],"mode":"toggle"}}', { code: 'INVALID_DATA' }],
    ['{"op":"subscribe","data":{"topics":[],"detail":1}}', { code: 'INVALID_DATA' }],
    ['{"op":"power","data":{}}', { code: 'INVALID_DATA', message: 'The field action is missing.' }],
    [
      '{"op":"power","data":{"action":"explode"}}',
      { code: 'INVALID_DATA', message: 'There is no such action.' },
    ],
    ['{"op":"power","data":{"action":"sleep","delay":86401}}', { code: 'INVALID_DATA' }],
    ['{"op":"media","data":{"action":7}}', { code: 'INVALID_DATA', message: 'The action must be a string.' }],
    ['{"op":"process_details","data":{}}', { code: 'INVALID_DATA', message: 'pid or name is missing.' }],
    ['{"op":"process_details","data":{"pid":1,"name":"a"}}', { code: 'INVALID_DATA' }],
  ];
  for (const [text, flaw] of cases) t.match(flawOf(t, text), flaw, text);
  for (const pid of [0, -1, 1.5, 2 ** 31, '7', null])
    t.match(flawOf(t, JSON.stringify({ op: 'process_kill', data: { pid } })), {
      code: 'INVALID_DATA',
      message: 'pid must be a whole number from 1 to 2147483647.',
    });
  t.strictSame(flawOf(t, '{"op":"power","data":{"action":"x"}}')?.allowed, [
    'shutdown',
    'restart',
    'sleep',
    'hibernate',
    'lock',
    'cancel',
  ]);
});

t.test('unknown keys and __proto__ are left out, deep nesting is refused', async (t) => {
  t.strictSame(requestOf(t, { op: 'ping', more: 1, data: { a: 1 } }), {
    op: 'ping',
    id: undefined,
    data: {},
  });
  const read = readSocketMessage('{"op":"process_kill","data":{"name":"x","__proto__":{"pid":1}}}');
  t.equal(read.isSound && 'pid' in read.request.data, false, '__proto__ is a key like any other');
  const deep = '['.repeat(8000);
  t.match(flawOf(t, `{"op":"ping","data":${deep}${']'.repeat(8000)}}`), { code: 'INVALID_DATA' });
});
