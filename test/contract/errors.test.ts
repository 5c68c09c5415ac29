/** Errors, methods and headers of the whole surface, over raw sockets. */
import t from 'tap';
import { checkError, checkHeaders, JSON_HEADERS, STREAM_HEADERS } from '../helpers/clients/answers.ts';
import { ask, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { DIFFERENCES } from '../helpers/service/differences.ts';
import { serveHere } from '../helpers/service/service.ts';

const GET_ROUTES = ['/api/status', '/api/usage', '/api/system', '/api/stream'];

const service = await serveHere(t, fixtureHost());
const { port } = service;

t.test('[2.404] [2.body] [2.json-headers] a path that is not in the table', async (t) => {
  const paths = [
    '/api',
    '/api/',
    '/api/nope',
    '/api/status/',
    '/API/status',
    '//api/status',
    '/api/./status',
    '/api/x/../status',
    '/api/%73tatus',
    '/api/status%00',
    '/api/status;a=1',
    '/__proto__',
    '/api/constructor',
  ];
  for (const path of paths) {
    const answer = await ask(port, path);
    checkError(t, answer, 404, 'not_found');
  }
});

t.test('[I.versions] no path has a version segment', async (t) => {
  for (const path of ['/v1/api/status', '/api/v1/status']) t.equal((await ask(port, path)).status, 404);
});

t.test('[2.405] [2.allow] a method that the path does not know', async (t) => {
  for (const path of [...GET_ROUTES, '/api/ws'])
    for (const method of [
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'TRACE',
      'get',
      'BREW',
      '__proto__',
      'constructor',
    ]) {
      const answer = await ask(port, path, { method });
      if (DIFFERENCES.refusesMethod(method))
        checkError(t, answer, 400, 'bad_request', { connection: 'close' });
      else checkError(t, answer, 405, 'method_not_allowed', { allow: 'GET, HEAD' });
    }
});

t.test('[2.not-found-first] an unknown path is 404 with any method', async (t) => {
  for (const method of ['POST', 'DELETE', 'BREW']) {
    const answer = await ask(port, '/api/nope', { method, body: '{}' });
    if (DIFFERENCES.refusesMethod(method)) checkError(t, answer, 400, 'bad_request', { connection: 'close' });
    else checkError(t, answer, 404, 'not_found');
  }
});

t.test('[1.options] OPTIONS that is not a preflight: 204 with Allow, without body or length', async (t) => {
  for (const path of [...GET_ROUTES, '/api/ws']) {
    const answer = await ask(port, path, { method: 'OPTIONS' });
    t.equal(answer.status, 204);
    checkHeaders(t, answer, { allow: 'GET, HEAD, OPTIONS' });
    t.strictSame(valuesOf(answer, 'content-length'), []);
  }
  t.equal((await ask(port, '/api/nope', { method: 'OPTIONS' })).status, 404, 'through all checks');
});

t.test('[2.426] [I.ws-exists] /api/ws without an upgrade', async (t) => {
  const answer = await ask(port, '/api/ws');
  checkError(t, answer, 426, 'upgrade_required', {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
  });
});

t.test(
  '[2.head] HEAD wherever GET works: the same head, no body, and the connection stays open',
  async (t) => {
    const connection = await RawConnection.openIn(t, port);
    for (const path of ['/api/status', '/api/system', '/api/usage', '/api/nope', '/api/ws']) {
      const read = async (method: 'GET' | 'HEAD') => {
        connection.write(requestBytes(path, { method }));
        return await connection.readAnswer(method);
      };
      // Values of the machine may grow by a digit in between; those that a service learns after its start come later.
      const isAlike = (one: number, other: number) => Math.abs(one - other) < 40;
      let get = await read('GET');
      let head = await read('HEAD');
      for (
        let next = await read('GET');
        !isAlike(next.body.length, get.body.length);
        next = await read('GET')
      ) {
        get = next;
        head = await read('HEAD');
      }
      t.equal(head.status, get.status, path);
      const named = (answer: typeof get) =>
        answer.headers.filter(([name]) => !['Date', 'Content-Length'].includes(name)).toSorted();
      t.strictSame(named(head), named(get));
      const lengths = valuesOf(head, 'content-length');
      t.equal(lengths.length, 1);
      t.ok(isAlike(Number(lengths[0]), get.body.length), `${path}: ${lengths[0]} ~ ${get.body.length}`);
    }
    t.equal(connection.rest.length, 0, 'nothing but the answers came');
  },
);

t.test("[2.head-stream] HEAD on the stream: the stream's headers, then the end", async (t) => {
  const connection = await RawConnection.openIn(t, port);
  connection.write(requestBytes('/api/stream?fields=nope', { method: 'HEAD' }));
  const answer = await connection.readAnswer('HEAD');
  t.equal(answer.status, 200);
  checkHeaders(t, answer, { ...STREAM_HEADERS, 'x-ignored-fields': 'nope' });
  connection.write(requestBytes('/api/status'));
  t.equal((await connection.readAnswer()).status, 200, 'the same connection serves the next request');
});

t.test('[2.success-200] [2.no-store] [2.nosniff] successes are 200 with the JSON headers', async (t) => {
  for (const path of ['/api/status', '/api/system', '/api/usage']) {
    const answer = await ask(port, path);
    t.equal(answer.status, 200, path);
    t.equal(answer.reason, 'OK');
    checkHeaders(t, answer, JSON_HEADERS);
    t.strictSame(valuesOf(answer, 'content-length'), [`${answer.body.length}`]);
  }
});

t.test('[2.500] a handler that fails: internal_error, the reason only in the log', async (t) => {
  const broken = {
    ...fixtureHost(),
    readSystem: () => Promise.reject(new Error('secret-path-/etc/shadow')),
  };
  const failing = await serveHere(t, broken);
  const answer = await ask(failing.port, '/api/system');
  checkError(t, answer, 500, 'internal_error');
  t.notMatch(answer.body.toString(), /secret-path/, 'never what went wrong inside');
  t.match(failing.stderr(), /GET \/api\/system failed: Error: secret-path/);
  t.equal((await ask(failing.port, '/api/status')).status, 200, 'and it continues to serve');
});

t.test('[2.500] a host that throws while it is read: an answer, and the service continues', async (t) => {
  const broken = {
    ...fixtureHost(),
    readCounters: () => {
      throw new Error('no counters');
    },
  };
  const failing = await serveHere(t, broken);
  for (const path of ['/api/usage', '/api/stream', '/api/system'])
    checkError(t, await ask(failing.port, path), 500, 'internal_error');
  t.equal((await ask(failing.port, '/api/status')).status, 200);
});

t.test('[2.no-header-injection] no part of a request comes back as a header', async (t) => {
  const evil = '%0d%0aX-Evil:%201%0d%0a%0d%0a<h1>';
  for (const target of [
    `/api/usage?fields=${evil}`,
    `/api/usage?fields=a${evil}`,
    `/api/usage?fields=cpu,%00,%0a,a%0db`,
    `/api/status?${evil}=${evil}`,
    `/api/system?detail=${evil}`,
  ]) {
    const answer = await ask(port, target);
    t.equal(answer.status, 200);
    checkHeaders(t, answer, JSON_HEADERS);
  }
});
