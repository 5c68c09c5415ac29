/** Limits of the hub's WebSockets: which clients may open them, how many, and the output to a socket that does not read. */
import type net from 'node:net';
import t from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { until } from '../helpers/until.ts';
import { isUp, PlayedMachine, startHub } from './setup.ts';
import { HubClient, upgradeStatus } from './socket-setup.ts';

const KEY = 'k'.repeat(32);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const PATHS = ['/api/ws', '/api/hosts/a/ws'];

t.test('[I.hub.access] [I.hub.ws-access] a reload judges open streams and sockets again', async (t) => {
  const agent = await PlayedMachine.start(t);
  const agents = { a: { url: agent.url } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  const streams = await Promise.all([hub.open('/api/hosts/a/stream'), hub.open('/api/fleet/stream')]);
  const clients = await Promise.all(PATHS.map(async (path) => await HubClient.open(t, hub, path)));
  hub.reconfigure(agents, { auth: { enabled: true, api_key: KEY } });
  for (const { socket } of clients) await socket.closed;
  for (const stream of streams) await stream.ended();
  t.pass('all were cut');
  const late = await HubClient.open(t, hub, '/api/ws', bearer(KEY));
  await hub.stop();
  t.equal((await late.socket.closed).code, 1001, 'it ends with its sockets');
  t.ok(late.told.some(({ type }) => type === 'closing'));
});

t.test('[I.hub.ws-access] sockets count with the streams of their address', async (t) => {
  const agent = await PlayedMachine.start(t);
  const config = { server: { max_streams_per_address: 2 }, auth: { api_key: KEY } };
  const hub = await startHub(t, { a: { url: agent.url } }, config);
  await HubClient.open(t, hub);
  const second = await HubClient.open(t, hub, '/api/hosts/a/ws');
  for (const path of PATHS) t.equal((await SocketClient.refusal(hub.port, { path })).status, 503, path);
  await HubClient.open(t, hub, '/api/ws', bearer(KEY));
  second.socket.cut();
  await until(async () => (await upgradeStatus(hub.port, '/api/ws', {})) === 101);
  t.pass('a place is free again');
});

t.test('[I.hub.ws-stall] a socket that does not read misses samples, and gets the newest', async (t) => {
  // As many as fill the buffers, each with no more than an agent may send together (8 MiB).
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const agents = await Promise.all(ids.map(async () => await PlayedMachine.start(t)));
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
