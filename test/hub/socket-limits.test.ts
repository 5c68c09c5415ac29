/** Limits of the hub's WebSockets: which clients may open them, how many, and the output to a socket that does not read. */
import type net from 'node:net';
import t from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { isUp, PlayedAgent, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const KEY = 'k'.repeat(32);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const PATHS = ['/api/ws', '/api/hosts/a/ws'];

/** 101, or the status of the refusal. */
async function statusOf(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  try {
    (await SocketClient.open(port, { path, headers })).cut();
    return 101;
  } catch (error) {
    return (error as { readonly status: number }).status; // Refused.
  }
}

t.test('[I.hub.ws-access] the access rules hold for both sockets', async (t) => {
  const agent = await PlayedAgent.start(t);
  const agents = { a: { url: agent.url } };
  const withKey: ConfigPart = { auth: { enabled: true, api_key: KEY } };
  const cases: readonly (readonly [
    name: string,
    config: ConfigPart,
    headers: Readonly<Record<string, string>>,
    query: string,
    status: number,
  ])[] = [
    ['no authentication', {}, {}, '', 101],
    ['a key, none sent', withKey, {}, '', 401],
    ['a key, another one sent', withKey, bearer('x'.repeat(32)), '', 401],
    ['a key, sent', withKey, bearer(KEY), '', 101],
    ['a key, in the query', withKey, {}, `?api_key=${KEY}`, 101],
    ['a key, another one in the query', withKey, {}, `?api_key=${'x'.repeat(32)}`, 401],
    ['an address that is not listed', { auth: { enabled: true, allowed_ips: ['192.0.2.1'] } }, {}, '', 403],
    ['a blocked address', { auth: { blocked_ips: ['127.0.0.1'] } }, {}, '', 403],
    ['a foreign host name', {}, { Host: 'evil.example' }, '', 403],
    ['a foreign page', {}, { Origin: 'http://evil.example' }, '', 403],
    ['a foreign page with the key', withKey, { Origin: 'http://evil.example', ...bearer(KEY) }, '', 101],
  ];
  for (const [name, config, headers, query, status] of cases) {
    const hub = await startHub(t, agents, config);
    await until(() => hub.log.some((line) => line.includes('host a is up')));
    for (const path of PATHS)
      t.equal(await statusOf(hub.port, `${path}${query}`, headers), status, `${name}: ${path}`);
    t.notOk(
      hub.log.some((line) => line.includes(KEY)),
      'the key is not logged',
    );
    await hub.stop();
  }
});

t.test('[I.hub.ws-access] a reload judges open sockets again', async (t) => {
  const agent = await PlayedAgent.start(t);
  const agents = { a: { url: agent.url } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  const clients = await Promise.all(PATHS.map(async (path) => await HubClient.open(t, hub, path)));
  hub.reconfigure(agents, { auth: { enabled: true, api_key: KEY } });
  for (const { socket } of clients) await socket.closed;
  t.pass('both were cut');
  const late = await HubClient.open(t, hub, '/api/ws', bearer(KEY));
  await hub.stop();
  t.equal((await late.socket.closed).code, 1001, 'it ends with its sockets');
  t.ok(late.told.some(({ type }) => type === 'closing'));
});

t.test('[I.hub.ws-access] sockets count with the streams of their address', async (t) => {
  const agent = await PlayedAgent.start(t);
  const config = { server: { max_streams_per_address: 2 }, auth: { api_key: KEY } };
  const hub = await startHub(t, { a: { url: agent.url } }, config);
  await HubClient.open(t, hub);
  const second = await HubClient.open(t, hub, '/api/hosts/a/ws');
  for (const path of PATHS) t.equal((await SocketClient.refusal(hub.port, { path })).status, 503, path);
  await HubClient.open(t, hub, '/api/ws', bearer(KEY));
  second.socket.cut();
  await until(async () => (await statusOf(hub.port, '/api/ws', {})) === 101);
  t.pass('a place is free again');
});

t.test('[I.hub.ws-stall] a socket that does not read misses samples, and gets the newest', async (t) => {
  // As many as fill the buffers, each with no more than an agent may send together (8 MiB).
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const agents = await Promise.all(ids.map(async () => await PlayedAgent.start(t)));
  const hub = await startHub(t, Object.fromEntries(agents.map(({ url }, i) => [ids[i] ?? '', { url }])));
  for (const id of ids) await hub.host(id, isUp);
  const client = await HubClient.open(t, hub);
  const reader = await HubClient.open(t, hub);
  for (const each of [client, reader]) each.say('subscribe', { hosts: ids, data: { topics: ['stats'] } });
  client.say('subscribe', { data: { topics: ['fleet'] } });
  await client.take('fleet');
  await until(() => agents.every(({ streams }) => streams === 1));
  // Its receive buffer fills, then that of the hub's kernel.
  const raw = (client.socket.ws as unknown as { readonly _socket: net.Socket })._socket; // A private field of ws.
  raw.pause();
  const filler = 'x'.repeat(250_000);
  let timestamp = 0;
  const isRead = (at: number) =>
    ids.every((id) =>
      reader.told.some(
        (told) => told.host === id && told.type === 'system_stats' && told.data['timestamp'] === at,
      ),
    );
  while (timestamp < 30) {
    timestamp++;
    const at = timestamp;
    for (const agent of agents) agent.sample({ timestamp: at, filler });
    await until(() => isRead(at));
  }
  raw.resume();
  for (const host of ids)
    await client.take(
      (told) => told.host === host && told.type === 'system_stats' && told.data['timestamp'] === timestamp,
    );
  const times = client.told
    .filter(({ host, type }) => host === 'a' && type === 'system_stats')
    .map(({ data }) => Number(data['timestamp']));
  t.ok(times.length < timestamp, `${times.length} of ${timestamp}`);
  t.strictSame(
    times,
    times.toSorted((x, y) => x - y),
    'in order',
  );
  t.equal(new Set(times).size, times.length, 'none twice');
  for (const agent of agents) agent.sample({ timestamp: timestamp + 1, filler: '' });
  const whole = await client.take(
    ({ type, data }) =>
      type === 'fleet' &&
      Object.values(
        data['hosts'] as Readonly<Record<string, { readonly sample?: { readonly timestamp: number } }>>,
      ).some(({ sample }) => sample?.timestamp === timestamp + 1),
  );
  t.ok(whole, 'the fleet goes on');
});
