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
    process_list: [{}, { sort: 'cpu', limit: 1000, query: '', grouped: true, disk: false }],
    process_details: [{ pid: 1 }, { pid: 1 }],
    process_kill: [{ name: 'x' }, { name: 'x', signal: 'term', tree: false, timeout_ms: 3000 }],
    process_launch: [{ app: 'editor' }, { app: 'editor', args: [] }],
    power: [{ action: 'cancel' }, { action: 'cancel', delay: 0, force: false }],
    wake: [{ host: 'nas' }, { host: 'nas' }],
    history: [{}, { series: [], since: -3600 }],
    process_history: [{ at: -60 }, { at: -60 }],
    request: [{ name: 'power.sleep' }, { name: 'power.sleep', params: {}, steps: false }],
    ping: [undefined, {}],
  };
  for (const [op, [data, read]] of Object.entries(cases))
    t.strictSame(
      requestOf(t, { op, data }),
      { op, id: undefined, data: read, deadline: undefined, via: undefined },
      op,
    );
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
    ['{"op":"power","data":{"action":"explode"}}', { code: 'INVALID_DATA', message: 'Unknown action.' }],
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
    deadline: undefined,
    via: undefined,
  });
  const read = readSocketMessage('{"op":"process_kill","data":{"name":"x","__proto__":{"pid":1}}}');
  t.equal(read.isSound && 'pid' in read.request.data, false, '__proto__ is a key like any other');
  const deep = '['.repeat(8000);
  t.match(flawOf(t, `{"op":"ping","data":${deep}${']'.repeat(8000)}}`), { code: 'INVALID_DATA' });
});

/** A field, values at its limits, values just beyond them, and the message for these. */
type Field = readonly [
  op: string,
  field: string,
  good: readonly unknown[],
  bad: readonly unknown[],
  message: string,
  others?: object,
];

const repeat = (count: number, of: unknown) => Array.from({ length: count }, () => of);

const FIELDS: readonly Field[] = [
  [
    'get',
    'topics',
    [[], repeat(64, 'x'.repeat(64))],
    [null, 'stats', [1], ['x'.repeat(65)], repeat(65, 'x')],
    'topics must be a list of at most 64 names of at most 64 characters.',
  ],
  ['get', 'detail', [true, false], [1, 'true', null], 'detail must be true or false.', { topics: [] }],
  ['subscribe', 'mode', ['add'], ['toggle', 1], 'mode must be replace or add.', { topics: [] }],
  ['process_list', 'sort', ['name', 'disk'], ['pid', 1], 'sort must be one of cpu, memory, disk, name.'],
  [
    'process_list',
    'limit',
    [1, 10_000],
    [0, 10_001, 1.5, '5'],
    'limit must be a whole number from 1 to 10000.',
  ],
  [
    'process_list',
    'query',
    ['', 'x'.repeat(255)],
    ['x'.repeat(256), 1],
    'query must be a string of at most 255 characters.',
  ],
  ['process_list', 'grouped', [true, false], [0, 'false', null], 'grouped must be true or false.'],
  ['process_list', 'disk', [true, false], [1, 'true', null], 'disk must be true or false.'],
  [
    'process_kill',
    'name',
    ['x', 'x'.repeat(255)],
    ['', 'x'.repeat(256), 1],
    'name must be a string of 1 to 255 characters.',
  ],
  [
    'process_kill',
    'started_at',
    [0, 1.5],
    ['0', null],
    'started_at must be a number of Unix seconds.',
    { pid: 1 },
  ],
  ['process_kill', 'started_at', [], [1], 'started_at requires pid.', { name: 'x' }],
  ['process_kill', 'pid', [], [1], 'pid and name exclude each other.', { name: 'x' }],
  ['process_details', 'pid', [], [1], 'pid and name exclude each other.', { name: 'x' }],
  ['process_kill', 'signal', ['kill'], ['stop', 9], 'signal must be term or kill.', { pid: 1 }],
  ['process_kill', 'tree', [true, false], [1, 'true', null], 'tree must be true or false.', { pid: 1 }],
  [
    'process_kill',
    'timeout_ms',
    [0, 60_000],
    [-1, 60_001, '1'],
    'timeout_ms must be a number from 0 to 60000.',
    { pid: 1 },
  ],
  ['process_launch', 'app', [''], [1, null], 'app must be a string.'],
  [
    'process_launch',
    'args',
    [[], repeat(64, 'x'.repeat(4096))],
    ['-v', [1], ['x'.repeat(4097)], ['a\0b'], repeat(65, '')],
    'args must be at most 64 strings of at most 4096 characters.',
    { app: 'editor' },
  ],
  [
    'wake',
    'host',
    ['x', 'x'.repeat(64)],
    ['', 'x'.repeat(65), 1],
    'host must be a name of 1 to 64 characters.',
  ],
  [
    'power',
    'delay',
    [0, 1.5, 86_400],
    [-1, 86_401, '1'],
    'delay must be a number of seconds from 0 to 86400.',
    { action: 'sleep' },
  ],
  ['power', 'force', [true, false], ['1', null], 'force must be 1 or 0, or a boolean.', { action: 'sleep' }],
  ['media', 'player', ['mpv'], ['', 1, null], 'The player must be a non-empty string.', { action: 'play' }],
  [
    'history',
    'series',
    [[], repeat(64, 'x'.repeat(512))],
    ['cpu', [1], ['x'.repeat(513)], repeat(65, 'x')],
    'series must be at most 64 names of at most 512 characters.',
  ],
  ...(['since', 'until'] as const).map(
    (name): Field => [
      'history',
      name,
      [-1e10, 0, 1e12],
      [-1.1e10, 1.1e12, 'now', null],
      `${name} must be a number of Unix seconds, or negative: that many seconds before now.`,
    ],
  ),
  [
    'history',
    'step',
    [1, 86_400],
    [0, 86_401, 1.5, '1'],
    'step must be a whole number of seconds from 1 to 86400.',
  ],
];

t.test('each field up to its limits, and just beyond with what it must be', async (t) => {
  for (const [op, field, good, bad, message, others] of FIELDS) {
    const textOf = (value: unknown) => JSON.stringify({ op, data: { ...others, [field]: value } });
    for (const value of good)
      t.ok(
        readSocketMessage(textOf(value)).isSound,
        `${op}.${field} = ${JSON.stringify(value).slice(0, 40)}`,
      );
    for (const value of bad)
      t.match(flawOf(t, textOf(value)), { code: 'INVALID_DATA', message }, textOf(value));
  }
});
