/**
 * Request bodies over raw sockets, on routes made for these tests: sizes, types, the order of the checks, and where a request
 * ends: framing in doubt, bodies that look like requests, interim answers.
 */
import t from 'tap';
import { parseJsonObject } from '#src/http/body.js';
import { jsonAnswer } from '#src/http/reply.js';
import type { Endpoint } from '#src/http/routes.js';
import { checkError } from '../helpers/clients/answers.ts';
import { jsonOf, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { startRoutes } from '../helpers/clients/routes.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { smuggled } from '../http/smuggled.ts';

const KIB = 1024;
const MOST = 16 * KIB;

let acts = 0;
const act: Endpoint['run'] = ({ body }) => {
  acts++;
  return { status: '200 OK', headers: [], body: JSON.stringify({ bytes: body.length }) };
};
const served = await startRoutes([
  {
    path: '/object',
    methods: { POST: { body: 'json', run: ({ body }) => jsonAnswer(Object.keys(parseJsonObject(body))) } },
  },
  { path: '/json', methods: { POST: { body: 'json', run: act } } },
  { path: '/ignored', methods: { POST: { body: 'ignored', run: act } } },
  { path: '/off', methods: { POST: { body: 'json', feature: 'enable_process_control', run: act } } },
  { path: '/get', methods: { GET: { run: act } } },
]);
t.teardown(() => served.stop());
t.beforeEach(() => {
  acts = 0;
});

const { connect } = served;

const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n';
const chunked = (path: string, ...chunks: readonly string[]) =>
  `POST ${path} ${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('')}0\r\n\r\n`;

t.test('[2.413] a body of 16 KiB is taken, a byte more is refused and drained', async (t) => {
  const connection = await connect(t);
  connection.write(requestBytes('/json', { method: 'POST', body: Buffer.alloc(MOST, 32) }));
  t.strictSame(jsonOf(await connection.readAnswer()), { bytes: MOST });
  connection.write(requestBytes('/json', { method: 'POST', body: Buffer.alloc(MOST + 1, 32) }));
  checkError(t, await connection.readAnswer(), 413, 'payload_too_large');
  connection.write(requestBytes('/get'));
  t.strictSame(jsonOf(await connection.readAnswer()), { bytes: 0 }, 'the connection goes on');
  t.equal(acts, 2);
});

t.test('[1.announced] a larger Content-Length is refused before the body comes', async (t) => {
  const connection = await connect(t);
  connection.write(`POST /json ${HEAD}Content-Length: ${900 * KIB}\r\n\r\n`);
  checkError(t, await connection.readAnswer(), 413, 'payload_too_large');
  connection.write(Buffer.concat([Buffer.alloc(900 * KIB, 32), requestBytes('/get')]));
  t.equal((await connection.readAnswer()).status, 200, 'what was announced is drained');
  t.equal(acts, 1);
});

t.test('[1.drain-limit] beyond 1 MiB the connection ends', async (t) => {
  for (const path of ['/json', '/ignored', '/get', '/nope']) {
    const connection = await connect(t);
    connection.write(`POST ${path} ${HEAD}Content-Length: ${1024 * KIB + 1}\r\n\r\n`);
    const answer = await connection.readAnswer();
    t.ok([404, 405, 413].includes(answer.status), `${path}: ${answer.status}`);
    t.strictSame(valuesOf(answer, 'connection'), ['close']);
    await connection.closed();
  }
  const connection = await connect(t);
  connection.write(`POST /ignored ${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
  for (let i = 0; i < 20; i++) connection.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
  checkError(t, await connection.readAnswer(), 413, 'payload_too_large', { connection: 'close' });
  await connection.closed();
  t.equal(acts, 0, 'nothing acted');
});

t.test('[1.chunked] a chunked body is read, however it is cut, and ends its connection', async (t) => {
  const request = chunked('/json', '{"a"', ':', '1}');
  // Where a request line may not come in pieces, a cut at any place after it must work.
  const first = DIFFERENCES.servesAllForms ? 1 : request.indexOf('\r\n') + 2;
  const split = [...request].map((_, at) => at).slice(first);
  for (const at of split) {
    const connection = await connect(t);
    connection.write(request.slice(0, at));
    await new Promise((resolve) => setTimeout(resolve, 3));
    connection.write(request.slice(at));
    const answer = await connection.readAnswer();
    t.strictSame(jsonOf(answer), { bytes: 7 });
    t.strictSame(valuesOf(answer, 'connection'), ['close']);
    await connection.closed();
  }
});

t.test('[2.413-chunked] a chunked body of more than 16 KiB', async (t) => {
  const connection = await connect(t);
  connection.write(chunked('/json', 'x'.repeat(MOST), 'x'));
  checkError(t, await connection.readAnswer(), 413, 'payload_too_large', { connection: 'close' });
  const whole = await connect(t);
  whole.write(chunked('/json', ' '.repeat(MOST)));
  t.strictSame(jsonOf(await whole.readAnswer()), { bytes: MOST });
});

t.test('[2.415] only application/json, with any parameters; no type is JSON', async (t) => {
  const connection = await connect(t);
  const post = (type?: string) => {
    const headers = type === undefined ? {} : { 'Content-Type': type };
    connection.write(requestBytes('/json', { method: 'POST', headers, body: '{}' }));
    return connection.readAnswer();
  };
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;x',
  ])
    t.equal((await post(type)).status, 200, type);
  t.equal((await post()).status, 200, 'a missing type');
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'json',
    '',
  ])
    checkError(t, await post(type), 415, 'unsupported_media_type');
  t.equal(acts, 5);
});

t.test('[1.body-ignored] an ignored body may be anything up to 1 MiB', async (t) => {
  const connection = await connect(t);
  const headers = { 'Content-Type': 'text/plain' };
  connection.write(requestBytes('/ignored', { method: 'POST', headers, body: Buffer.alloc(200 * KIB) }));
  t.equal((await connection.readAnswer()).status, 200);
  connection.write(requestBytes('/ignored', { method: 'POST' }));
  t.equal((await connection.readAnswer()).status, 200, 'also without one');
});

t.test('[1.whole-body] nothing acts before the whole body has arrived', async (t) => {
  for (const path of ['/json', '/ignored']) {
    const connection = await connect(t);
    connection.write(`POST ${path} ${HEAD}Content-Length: 10\r\n\r\n{"a":`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    t.equal(acts, 0, `${path}: not yet`);
    connection.end();
    await connection.closed();
    t.equal(acts, 0, `${path}: never`);
  }
});

t.test('[1.feature-order] [2.403-feature] size, type, then the flag: 403 without a body', async (t) => {
  const connection = await connect(t);
  connection.write(requestBytes('/off', { method: 'POST', body: Buffer.alloc(MOST + 1) }));
  t.equal((await connection.readAnswer()).status, 413);
  connection.write(
    requestBytes('/off', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' }),
  );
  t.equal((await connection.readAnswer()).status, 415);
  connection.write(requestBytes('/off', { method: 'POST', body: '{}' }));
  const answer = await connection.readAnswer();
  t.equal(answer.status, 403);
  t.strictSame(valuesOf(answer, 'x-error-code'), ['feature_disabled']);
  t.strictSame(valuesOf(answer, 'content-length'), ['0']);
  t.equal(acts, 0);
});

t.test('[2.400-json] [2.400-body] a body that is not JSON, or not an object', async (t) => {
  const connection = await connect(t);
  const post = (body: string | Buffer) => {
    connection.write(requestBytes('/object', { method: 'POST', body }));
    return connection.readAnswer();
  };
  for (const body of ['', '{', '{"a":1}x', "{'a':1}", '\ufeff', 'NaN', Buffer.from([0x22, 0xff, 0x22])])
    checkError(t, await post(body), 400, 'invalid_json');
  for (const body of ['null', '1', '"x"', '[]', '[{}]', 'true'])
    checkError(t, await post(body), 400, 'invalid_body');
  t.strictSame(jsonOf(await post('{"a":1,"__proto__":2}')), ['a', '__proto__']);
});

t.test(
  '[1.framing] framing in doubt: 400 where the head is checked, the end of the connection everywhere',
  async (t) => {
    const cases = [
      'Content-Length: 2\r\nContent-Length: 2\r\n',
      'Content-Length: 2\r\nContent-Length: 0\r\n',
      'Content-Length: \r\n',
      'Transfer-Encoding: gzip, chunked\r\n',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
      'Transfer-Encoding: \r\n',
    ];
    for (const lines of cases)
      for (const [path, status] of [
        ['/json', 400],
        ['/nope', 404],
        ['/get', 405],
      ] as const) {
        const connection = await connect(t);
        connection.write(`POST ${path} ${HEAD}${lines}\r\n0\r\n\r\n`);
        connection.end();
        try {
          t.equal(
            (await connection.readAnswer()).status,
            DIFFERENCES.framingStatus(status, lines),
            `${path} ${JSON.stringify(lines)}`,
          );
        } catch {
          // The bytes after such a head may have been read as another request: then there is no answer at all.
          t.ok(connection.isClosed);
        }
        await connection.closed();
      }
    t.equal(acts, 0);
  },
);

t.test('[1.no-smuggling] bytes of a body, or after a doubtful one, are never a request', async (t) => {
  const inner = `POST /ignored ${HEAD}\r\n`;
  const body = { body: inner };
  const doubtful = [...smuggled('/nope', inner), `GET /get ${HEAD}Connection: close\r\n\r\n${inner}`];
  for (const bytes of doubtful) {
    acts = 0;
    const connection = await connect(t);
    connection.write(bytes);
    connection.end();
    await connection.closed();
    t.ok(acts <= (bytes.startsWith('GET') ? 1 : 0), JSON.stringify(bytes.slice(0, 90)));
    t.notMatch(connection.rest.toString('latin1'), /200 OK.*200 OK/s);
  }
  for (const [path, method] of [
    ['/get', 'POST'],
    ['/get', 'GET'],
    ['/get', 'HEAD'],
    ['/nope', 'POST'],
    ['/json', 'OPTIONS'],
    ['/json', 'POST'],
  ] as const) {
    acts = 0;
    const connection = await connect(t);
    connection.write(requestBytes(path, { method, ...body }));
    const status = (await connection.readAnswer(method)).status;
    const before = acts;
    connection.write(requestBytes('/get'));
    t.strictSame(
      jsonOf(await connection.readAnswer()),
      { bytes: 0 },
      `${method} ${path} ${status}: still in step`,
    );
    t.equal(acts, before + 1);
  }
});

t.test('[1.expect] Expect: 100-continue is answered, and the connection stays in step', async (t) => {
  const connection = await connect(t);
  for (const path of ['/json', '/nope']) {
    connection.write(`POST ${path} ${HEAD}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    t.equal((await connection.readAnswer()).status, 100);
    connection.write('{}');
    t.equal((await connection.readAnswer()).status, path === '/json' ? 200 : 404);
  }
});

t.test('[1.trailers] chunked trailers end the connection, they are not a request', async (t) => {
  const connection = await connect(t);
  connection.write(`POST /nope ${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n`);
  await connection.closed();
  t.equal(acts, 0);
});
