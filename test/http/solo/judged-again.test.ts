/** A reload checks access again: for open streams, streams that wait for their first sample, slow bodies. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Gate } from '#src/http/gate.js';
import type { RequestHead } from '#src/http/head.js';
import { createLog } from '#src/log/log.js';
import { configOf } from '../../access/setup.ts';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf, RawConnection, requestBytes, valuesOf } from '../../helpers/clients/http.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { checkTime } from '../../helpers/limits.ts';
import { serveHere } from '../../helpers/service/service.ts';

const STRANGER = '127.0.0.66';
const BLOCKED = { auth: { blocked_ips: [STRANGER] } };

t.test('[8.reload-streams] an open stream without access is cut, the others continue', async (t) => {
  const service = await serveHere(t, fixtureHost());
  const own = await EventStream.open(service.port);
  const foreign = await EventStream.open(service.port, '/api/stream', {}, STRANGER);
  t.teardown(() => own.close());
  await Promise.all([own.next(), foreign.next()]);
  const begun = performance.now();
  service.reconfigure(BLOCKED);
  await foreign.ended();
  checkTime(t, performance.now() - begun, 1000, 'cut');
  t.ok(foreign.connection.isClosed && !foreign.isEnded, 'cut, not ended');
  await own.next();
  service.reconfigure({ auth: { enabled: true, api_key: 'x'.repeat(32) } });
  await own.ended();
  t.ok(own.connection.isClosed, 'a stream without the key, when one is asked for');
});

t.test('[8.reload-streams] a stream that waits for its first sample is checked again', async (t) => {
  const service = await serveHere(t, fixtureHost());
  const connection = await RawConnection.openIn(t, service.port, '127.0.0.1', STRANGER);
  // A first load takes 200 ms.
  connection.write(requestBytes('/api/stream'));
  await sleep(50);
  service.reconfigure(BLOCKED);
  const answer = await connection.readAnswer();
  t.equal(answer.status, 403);
  t.equal(answer.body.length, 0);
  t.strictSame(valuesOf(answer, 'content-length'), ['0']);
});

t.test('[8.reload-slow-body] a request with a slow body is checked again before it acts', async (t) => {
  const service = await serveHere(t, fixtureHost());
  const connection = await RawConnection.openIn(t, service.port, '127.0.0.1', STRANGER);
  connection.write('POST /api/pw/sleep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab');
  await sleep(50);
  service.reconfigure(BLOCKED);
  connection.write('cd');
  t.equal((await connection.readAnswer('POST')).status, 403);
  await sleep(200);
  t.match(jsonOf(await ask(service.port, '/api/pw')), { recorded: [] });
  service.reconfigure({});
  connection.write('POST /api/pw/sleep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd');
  t.equal((await connection.readAnswer('POST')).status, 200, 'the twin that passes');
});

t.test('streams with the same access data share one stored copy of it', async (t) => {
  const gate = new Gate({
    config: configOf({}),
    machineNames: [],
    log: createLog(() => {}),
    now: () => 0,
  });
  const clientOf = (change: Partial<RequestHead>) => {
    const headers = new Map([['host', ['localhost']]]);
    const head = { method: 'GET', path: '/api/stream', query: '', headers, remoteAddress: '10.0.0.1' };
    const verdict = gate.judge({ ...head, isSecure: false, ...change });
    if (!verdict.isAllowed) throw new Error('refused');
    return gate.keep(verdict.client);
  };
  const first = clientOf({});
  t.equal(clientOf({}), first);
  t.equal(clientOf({ query: 'fields=cpu' }), first);
  t.equal(clientOf({ path: '/api/hosts/desk/stream' }), first, 'of any machine of a hub');
  t.not(clientOf({ path: '/api/status' }), first, 'but for a path that everybody may ask for');
  t.not(clientOf({ remoteAddress: '10.0.0.2' }), first);
  t.not(clientOf({ headers: new Map([['host', ['app.localhost']]]) }), first);
});
