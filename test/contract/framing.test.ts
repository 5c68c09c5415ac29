/** Where a request ends, over raw sockets: framing in doubt, bodies that look like requests, interim answers. */
import t from 'tap';
import type { Endpoint } from '#src/http/routes.js';
import { jsonOf, requestBytes } from '../helpers/clients/http.ts';
import { startRoutes } from '../helpers/clients/routes.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { smuggled } from '../http/smuggled.ts';

let acts = 0;
const act: Endpoint['run'] = ({ body }) => {
  acts++;
  return { status: '200 OK', headers: [], body: JSON.stringify({ bytes: body.length }) };
};
const served = await startRoutes([
  { path: '/json', methods: { POST: { body: 'json', run: act } } },
  { path: '/ignored', methods: { POST: { body: 'ignored', run: act } } },
  { path: '/get', methods: { GET: { run: act } } },
]);
t.teardown(() => served.stop());
t.beforeEach(() => {
  acts = 0;
});

const { connect } = served;

const HEAD = 'HTTP/1.1\r\nHost: localhost\r\n';

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
