/** The upgrade to a WebSocket: which clients get one, the answers to others, and sockets cut after a reload. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { checkError, checkHeaders } from '../helpers/clients/answers.ts';
import { ask, RawConnection, requestBytes, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { checkTime } from '../helpers/limits.ts';
import { serveHere, startHere } from '../helpers/service/service.ts';

const KEY = 'correct-horse-battery-staple-0123456789';
const WITH_KEY = { auth: { enabled: true, api_key: KEY } };
const STRANGER = '127.0.0.66';

/** The example of RFC 6455, 1.3, with its answer. */
const UPGRADE = {
  Connection: 'keep-alive, Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const upgrade = (port: number, target: string, headers: Readonly<Record<string, string>>) =>
  ask(port, target, { headers });

t.test('[7.upgrade] a GET with an upgrade gets 101, without subprotocol and extensions', async (t) => {
  const service = await serveHere(t, fixtureHost());
  for (const offer of [
    { 'Sec-WebSocket-Protocol': 'chat', 'Sec-WebSocket-Extensions': 'permessage-deflate' },
    ...['WebSocket', 'websocket, h2c', 'h2c,websocket'].map((protocols) => ({ Upgrade: protocols })),
  ]) {
    const answer = await upgrade(service.port, '/api/ws', { ...UPGRADE, ...offer });
    t.equal(answer.status, 101, JSON.stringify(offer));
    checkHeaders(t, answer, { upgrade: 'websocket', connection: 'Upgrade', 'sec-websocket-accept': ACCEPT });
  }
});

t.test('[7.upgrade] an incomplete upgrade is 426 with the protocol to upgrade to', async (t) => {
  const service = await serveHere(t, fixtureHost());
  const without = (name: string) =>
    Object.fromEntries(Object.entries(UPGRADE).filter(([key]) => key !== name));
  const cases: readonly Readonly<Record<string, string>>[] = [
    {},
    ...Object.keys(UPGRADE).map(without),
    { ...UPGRADE, Upgrade: 'h2c' },
    { ...UPGRADE, Upgrade: 'websocket/13' },
    { ...UPGRADE, Connection: 'close' },
    { ...UPGRADE, 'Sec-WebSocket-Version': '8' },
    { ...UPGRADE, 'Sec-WebSocket-Key': 'short' },
  ];
  for (const headers of cases)
    checkError(t, await upgrade(service.port, '/api/ws', headers), 426, 'upgrade_required', {
      upgrade: 'websocket',
      connection: 'Upgrade',
      'sec-websocket-version': '13',
    });
  t.equal((await upgrade(service.port, '/api/usage', UPGRADE)).status, 200, 'no other path upgrades');
  t.equal((await upgrade(service.port, '/api/ws/', UPGRADE)).status, 404);
  const posted = await ask(service.port, '/api/ws', { method: 'POST', headers: UPGRADE, body: '{}' });
  t.equal(posted.status, 405);
});

t.test('[7.upgrade-body] an upgrade with a body is 400: its bytes are never frames', async (t) => {
  const service = await serveHere(t, fixtureHost());
  for (const framing of ['Content-Length: 3\r\n', 'Transfer-Encoding: chunked\r\n']) {
    const connection = await RawConnection.open(service.port);
    const lines = Object.entries(UPGRADE).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.write(`GET /api/ws HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}${framing}\r\n`);
    connection.write('0\r\n\r\n');
    const answer = await connection.readAnswer();
    connection.destroy();
    t.equal(answer.status, 400, framing);
  }
});

t.test('[I.auth.ws] the key in the header, or in the query exactly once', async (t) => {
  const service = await serveHere(t, fixtureHost(), WITH_KEY);
  const bearer = { Authorization: `Bearer ${KEY}` };
  for (const options of [
    { headers: bearer },
    { path: `/api/ws?api_key=${KEY}` },
    { path: `/api/ws?api_key=${KEY}&x=1` },
  ]) {
    const client = await SocketClient.open(service.port, options);
    t.equal((await client.take('connected')).type, 'connected');
    client.cut();
  }
  for (const path of [
    '/api/ws',
    '/api/ws?api_key=',
    '/api/ws?api_key=wrong',
    `/api/ws?api_key=${KEY}&api_key=${KEY}`,
    `/api/ws?API_KEY=${KEY}`,
  ]) {
    const refused = await upgrade(service.port, path, UPGRADE);
    t.equal(refused.status, 401, path);
    checkHeaders(t, refused, { 'www-authenticate': 'Bearer' });
    t.strictSame([refused.body.length, valuesOf(refused, 'content-length')], [0, ['0']], 'no body');
  }
  t.equal((await upgrade(service.port, `/api/usage?api_key=${KEY}`, {})).status, 401, 'only here');
  t.notMatch(service.stderr(), KEY, 'it is in no line of the log');
});

t.test('[I.auth.ws] a blocked or unlisted address is 403 without a body', async (t) => {
  for (const auth of [
    { blocked_ips: ['127.0.0.1'] },
    { enabled: true, api_key: KEY, allowed_ips: ['192.0.2.1'] },
  ]) {
    const service = await serveHere(t, fixtureHost(), { auth });
    const refused = await upgrade(service.port, `/api/ws?api_key=${KEY}`, UPGRADE);
    t.equal(refused.status, 403);
    checkHeaders(t, refused, {});
    t.equal(refused.body.length, 0);
  }
});

t.test('[7.upgrade-origin] a foreign page gets no socket, a listed one and a keyed one do', async (t) => {
  const server = { cors_origins: ['https://dash.example.org'] };
  const service = await serveHere(t, fixtureHost(), { server, auth: { api_key: KEY } });
  const foreign = { ...UPGRADE, Origin: 'https://evil.example' };
  const refused = await upgrade(service.port, '/api/ws', foreign);
  t.equal(refused.status, 403);
  t.strictSame(valuesOf(refused, 'x-error-code'), ['origin_not_allowed']);
  t.equal((await upgrade(service.port, `/api/ws?api_key=${KEY}`, foreign)).status, 101, 'keyed');
  const listed = { ...UPGRADE, Origin: 'https://dash.example.org' };
  t.equal((await upgrade(service.port, '/api/ws', listed)).status, 101, 'listed');
  const own = { ...UPGRADE, Origin: 'http://localhost' };
  t.equal((await upgrade(service.port, '/api/ws', own)).status, 101, "the service's own");
});

t.test(
  '[7.upgrade-room] sockets count as streams: 503 when there is no room, and room again when one has closed',
  async (t) => {
    const service = await serveHere(t, fixtureHost(), { server: { max_streams: 2 } });
    const clients = [await SocketClient.open(service.port), await SocketClient.open(service.port)];
    t.teardown(() => clients.forEach((client) => client.cut()));
    const refused = await upgrade(service.port, '/api/ws', UPGRADE);
    checkError(t, refused, 503, 'too_many_streams', { 'retry-after': '5', connection: 'close' });
    t.equal((await ask(service.port, '/api/stream')).status, 503, 'streams too');
    clients[0]?.ws.close();
    await clients[0]?.closed;
    await sleep(20);
    clients.push(await SocketClient.open(service.port));
  },
);

t.test('[7.upgrade-stopping] while the service stops: 503', async (t) => {
  const service = await startHere(fixtureHost());
  const connection = await RawConnection.openIn(t, service.port);
  connection.write(requestBytes('/api/status'));
  await connection.readAnswer();
  const stopped = service.stop();
  connection.write(requestBytes('/api/ws', { headers: UPGRADE }));
  t.equal((await connection.readAnswer()).status, 503);
  await stopped;
});

t.test(
  '[8.reload-sockets] a socket without access is cut within a second, the others stay open',
  async (t) => {
    const service = await serveHere(t, fixtureHost());
    const own = await SocketClient.open(service.port);
    const foreign = await SocketClient.open(service.port, { from: STRANGER });
    t.teardown(() => own.cut());
    own.say('subscribe', { topics: ['stats'] });
    await own.take('system_stats');
    const begun = performance.now();
    service.reconfigure({ auth: { blocked_ips: [STRANGER] } });
    t.equal((await foreign.closed).code, 1006, 'cut, not closed');
    checkTime(t, (await foreign.closed).atMs - begun, 1000, 'cut');
    t.equal((await own.ask('ping', undefined, 1)).type, 'pong');
    await own.take('system_stats');
    service.reconfigure({ auth: { enabled: true, api_key: KEY } });
    t.equal((await own.closed).code, 1006, 'without the key, when one is asked for');
    const keyed = await SocketClient.open(service.port, { path: `/api/ws?api_key=${KEY}` });
    service.reconfigure({ auth: { enabled: true, api_key: KEY }, log: { level: 'debug' } });
    t.equal((await keyed.ask('ping', undefined, 2)).type, 'pong', 'with the key, that is still the same');
    service.reconfigure({ auth: { enabled: true, api_key: `${KEY}!` } });
    t.equal((await keyed.closed).code, 1006, 'with a key that is no more');
  },
);
