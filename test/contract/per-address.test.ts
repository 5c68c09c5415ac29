/** Limits of one client address without the key; other addresses, and clients with the key, are not affected. */
import '../helpers/service/dead-buses.ts';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Host } from '#src/host/host.js';
import { checkError } from '../helpers/clients/answers.ts';
import { RawConnection } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeProcessHost } from '../helpers/fakes/processes.ts';
import { type ConfigPart, serveHere, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const KEY = 'k'.repeat(32);
const [ONE, OTHER] = ['127.0.0.66', '127.0.0.67'];

const start = (t: Test, server: NonNullable<ConfigPart['server']>, host: Host = fixtureHost()) =>
  serveHere(t, host, { server, auth: { api_key: KEY } });

interface StreamRequest {
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request for a stream and returns its connection with the status of the answer. */
async function openStream(t: Test, port: number, { from = ONE, headers = {} }: StreamRequest = {}) {
  const connection = await RawConnection.openIn(t, port, '127.0.0.1', from);
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.write(`GET /api/stream HTTP/1.1\r\nHost: localhost\r\n${more.join('')}\r\n`);
  const status = await connection.until((bytes) => /^HTTP\/1\.1 (\d+)/.exec(bytes.toString('latin1'))?.[1]);
  return { connection, status: Number(status) };
}

t.test('[4.streams-per-address] streams and sockets of one address are limited, others not', async (t) => {
  const { port } = await start(t, { max_streams_per_address: 3 });
  const statusOf = async (request: StreamRequest = {}) => (await openStream(t, port, request)).status;
  const first = await openStream(t, port);
  t.equal(first.status, 200);
  t.equal(await statusOf(), 200);
  await SocketClient.openIn(t, port, { from: ONE });
  const refused = await openStream(t, port);
  checkError(t, await refused.connection.readAnswer(), 503, 'too_many_streams', {
    'retry-after': '5',
    connection: 'close',
  });
  await t.rejects(SocketClient.open(port, { from: ONE }), /refused with 503/);
  t.equal(await statusOf({ from: OTHER }), 200, 'another address');
  t.equal(await statusOf({ headers: { Authorization: `Bearer ${KEY}` } }), 200, 'with the key');
  first.connection.destroy();
  for (let status = 503; status !== 200; ) status = await statusOf();
  t.equal(await statusOf(), 503, 'one has closed, so there was room for one');
});

t.test("[4.streams-proxied] a trusted proxy's clients are counted one by one", async (t) => {
  const { port } = await start(t, { max_streams_per_address: 1, trusted_proxies: [ONE] });
  const statusOf = async (client: string) =>
    (await openStream(t, port, { headers: { 'X-Forwarded-For': client } })).status;
  t.equal(await statusOf('10.0.0.1'), 200);
  t.equal(await statusOf('10.0.0.2'), 200);
  t.equal(await statusOf('10.0.0.1'), 503);
  t.equal(await statusOf('2001:db8:0:1::1'), 200);
  t.equal(await statusOf('2001:db8:0:1::1'), 503);
  for (const neighbour of ['2', '3', '4'])
    t.equal(await statusOf(`2001:db8:0:1::${neighbour}`), 200, 'its neighbours have theirs');
  t.equal(await statusOf('2001:db8:0:1:ffff::9'), 503, 'four times as much for the network');
  t.equal(await statusOf('2001:db8:0:2::1'), 200, 'another one');
});

t.test('[2.429] requests that wait for their answer: beyond the limit 429', async (t) => {
  const { port } = await start(t, { max_requests_per_address: 2 });
  const waiting = await Promise.all([1, 2].map(() => RawConnection.open(port, '127.0.0.1', ONE)));
  for (const connection of waiting) {
    t.teardown(() => connection.destroy());
    connection.write('POST /api/pw/sleep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab');
  }
  const askFrom = async (from: string, headers = '') => {
    const connection = await RawConnection.openIn(t, port, '127.0.0.1', from);
    connection.write(`GET /api/usage HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    return await connection.readAnswer();
  };
  let refused = await askFrom(ONE);
  // Their requests may arrive after this one.
  while (refused.status === 200) refused = await askFrom(ONE);
  checkError(t, refused, 429, 'too_many_requests', { 'retry-after': '1' });
  t.equal((await askFrom(OTHER)).status, 200, 'another address');
  t.equal((await askFrom(ONE, `Authorization: Bearer ${KEY}\r\n`)).status, 200, 'with the key');
  for (const connection of waiting) {
    connection.write('cde');
    t.equal((await connection.readAnswer('POST')).status, 200);
  }
  t.equal((await askFrom(ONE)).status, 200, 'all are answered');
});

t.test('[1.connections] more connections of one address: 503, then closed immediately', async (t) => {
  const server = { max_connections_per_address: 20 };
  const service = await serveProgram(t, { config: { server, auth: { api_key: KEY } } });
  const { port } = service;
  const statusOf = (connection: RawConnection, headers = '') => {
    connection.write(`GET /api/usage HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
    return connection.readAnswer();
  };
  const open = (from = ONE) => RawConnection.openIn(t, port, '127.0.0.1', from);
  const idle = await Promise.all(Array.from({ length: 19 }, () => open()));
  // Those accepted while the service looks at its connections are counted twice until it looks again.
  const isServed = async (connection: RawConnection) =>
    (await statusOf(connection).catch(() => undefined))?.status === 200;
  let last = await open();
  while (!(await isServed(last))) {
    last.destroy();
    await sleep(100);
    last = await open();
  }
  idle.push(last);
  checkError(t, await statusOf(await open()), 503, 'too_many_connections', {
    'retry-after': '5',
    connection: 'close',
  });
  t.equal((await statusOf(await open(OTHER))).status, 200, 'another address');
  // A key comes with a request.
  checkError(
    t,
    await statusOf(await open(), `Authorization: Bearer ${KEY}\r\n`),
    503,
    'too_many_connections',
    { 'retry-after': '5', connection: 'close' },
  );
  t.equal((await statusOf(last)).status, 200, 'those that came first are served');
  t.match(
    service.stderr(),
    /warn: access: 127\.0\.0\.\d+ was refused \(too_many_connections\): see server\./,
  );
  for (const connection of idle) connection.destroy();
  // Closed connections are noticed at the next look.
  const askAgain = async () => (await statusOf(await open())).status;
  let status = 503;
  while (status !== 200) status = await askAgain().catch(() => 503);
  t.equal(status, 200, 'when they are gone there is room');
});

t.test(
  '[1.connections] streams opened in the same moment: as many are served as may be, in every order',
  async (t) => {
    const server = { max_connections_per_address: 60, max_streams_per_address: 20 };
    const service = await serveProgram(t, { config: { server } });
    const kept = await RawConnection.openIn(t, service.port, '127.0.0.1', ONE);
    const asked = Array.from({ length: 90 }, () =>
      openStream(t, service.port).catch(() => ({ status: 503 })),
    );
    kept.write('GET /api/usage HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 200).length, 20, 'of 90');
    t.equal(statuses.filter((status) => status === 503).length, 70);
    t.equal((await kept.readAnswer()).status, 200, 'what was there before is served');
  },
);

const PROCESSES = 4000;
const many = Array.from({ length: PROCESSES }, (_, i) => ({ pid: i + 2, name: `worker-${i}`, cpu: i }));

t.test('[2.kept] unread lists: the clients that requested them are cut, and no others', async (t) => {
  const processes = new FakeProcessHost();
  processes.processes = many;
  const service = await start(t, { max_kept_megabytes: 8 }, { ...fixtureHost(), processes });
  const honest = await SocketClient.openIn(t, service.port, { from: OTHER });
  const request = JSON.stringify({ op: 'process_list', data: { grouped: false, limit: 10_000 } });
  const hoarders = await Promise.all(
    Array.from({ length: 12 }, () => SocketClient.open(service.port, { from: ONE })),
  );
  const closed = hoarders.map(({ ws }) => once(ws, 'close'));
  for (const { ws } of hoarders) {
    t.teardown(() => ws.terminate());
    ws.pause();
    for (let i = 0; i < 8; i++) ws.send(request);
  }
  // A paused socket does not notice that it was cut.
  await until(() => /closed \d+ connections? from 127\.0\.0\.66: too many bytes/.test(service.stderr()));
  for (const { ws } of hoarders) ws.resume();
  await Promise.race(closed);
  const list = await honest.ask('process_list', { grouped: false, limit: 10_000 }, 1);
  t.equal(list.type, 'process_list', 'the others are answered');
});
