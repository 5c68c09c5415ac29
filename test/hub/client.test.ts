/** hostwire/client at a hub: the list, the fleet, one machine, many on one socket; lost connections. */
import t from 'tap';
import { WebSocket } from 'ws';
import { ENVIRONMENT } from '#src/client/environment.js';
import { connectHubIn, type FleetView, type HubSocket, host, hosts, streamFleet } from '#src/client/hub.js';
import { findFreePort } from '../helpers/service/free-port.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { startCommanded } from './commanded.ts';
import { isUp, PlayedMachine, type StartedHub, startHub } from './setup.ts';

const QUICK = {
  ...ENVIRONMENT,
  timing: { ...ENVIRONMENT.timing, initialDelayMs: 50, maxDelayMs: 200, healthyMs: 10 },
};
const urlOf = ({ port }: Pick<StartedHub, 'port'>) => `http://127.0.0.1:${port}`;
const open = (hub: Pick<StartedHub, 'port'>): HubSocket =>
  connectHubIn({ url: urlOf(hub), WebSocket }, QUICK);

t.test('[I.hub.client] the list, and one machine as a service of its own', async (t) => {
  const agent = await startCommanded(t);
  const config: ConfigPart = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };
  const agents = {
    pc: { url: agent.service.baseUrl, labels: { site: 'x' } },
    gone: { url: 'http://127.0.0.1:1' },
  };
  const hub = await startHub(t, agents, config);
  await hub.host('pc', isUp);
  const access = { url: urlOf(hub) };
  t.strictSame(
    (await hosts(access)).map(({ id }) => id),
    ['gone', 'pc'],
  );
  t.strictSame(
    (await hosts({ ...access, labels: ['site:x'], state: 'up' })).map(({ id }) => id),
    ['pc'],
  );
  const pc = host('pc', access);
  t.strictSame(Object.keys(await pc.usage({ fields: ['cpu'] })), ['timestamp', 'uptime', 'cpu']);
  t.equal((await pc.system()).hostname, 'fixture');
  t.ok((await pc.system({ detail: true })).service.version);
  const samples: object[] = [];
  const stream = pc.stream({ fields: ['memory'], onSample: (sample) => samples.push(sample) });
  await until(() => samples[0]);
  stream.close();
  t.strictSame(Object.keys(samples[0] ?? {}), ['timestamp', 'uptime', 'memory']);
  const socket = pc.connect({ WebSocket });
  t.teardown(() => socket.close());
  t.match(await socket.media('pause'), { success: true, final: true });
  t.ok((await socket.get(['stats.cpu', 'media'])).media);
  await t.rejects(host('nobody', access).usage(), { code: 'not_found' });
  await t.rejects(host('gone', access).usage(), { code: 'host_unreachable' });
});

t.test('[I.hub.client] all machines in one stream, merged', async (t) => {
  const agent = await PlayedMachine.start(t);
  const agents = { a: { url: agent.url }, gone: { url: 'http://127.0.0.1:1' } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  const seen: FleetView[] = [];
  const fleet = streamFleet({ url: urlOf(hub), fields: ['cpu'], onChange: (view) => seen.push(view) });
  t.teardown(() => fleet.close());
  await until(() => agent.streams === 1);
  agent.sample({ timestamp: 7, uptime: 1 });
  await until(() => seen.find(({ hosts: known }) => known.get('a')?.sample?.timestamp === 7));
  t.strictSame([...(seen.at(-1)?.hosts.keys() ?? [])].sort(), ['a', 'gone']);
  t.strictSame(seen.at(-1)?.changed, ['a']);
  hub.reconfigure({ a: { url: agent.url } });
  await until(() => seen.find(({ removed }) => removed.includes('gone')));
  t.strictSame([...(seen.at(-1)?.hosts.keys() ?? [])], ['a']);
});

t.test('[I.hub.client] many machines on one socket, across a restart of the hub', async (t) => {
  const all = await Promise.all([1, 2].map(async () => await PlayedMachine.start(t)));
  const agents = Object.fromEntries(all.map(({ url }, i) => [`h${i}`, { url }]));
  const port = await findFreePort();
  const config: ConfigPart = { server: { port } };
  const hub = await startHub(t, agents, config);
  for (const id of Object.keys(agents)) await hub.host(id, isUp);
  const many = open(hub);
  t.teardown(() => many.close());
  const samples: string[] = [];
  const conditions: string[] = [];
  const fleets: FleetView[] = [];
  many.on('system_stats', ({ host: id, data }) => samples.push(`${id} ${data.timestamp}`));
  many.on('host', ({ host: id, data }) => conditions.push(`${id} ${data.state}`));
  many.on('fleet', (view) => fleets.push(view));
  many.subscribeFleet({ fields: ['cpu'] });
  t.strictSame(await many.subscribe(['h0', 'nobody', 'h1'], ['stats.cpu']), { unknown: ['nobody'] });
  t.strictSame(conditions, ['h0 up', 'h1 up']);
  await until(() => all.every(({ streams }) => streams === 1));
  for (const agent of all) agent.sample({ timestamp: 1 });
  await until(() => samples.length === 2);
  t.strictSame(samples.toSorted(), ['h0 1', 'h1 1']);
  await until(() => fleets.find(({ hosts: known }) => known.get('h1')?.sample !== undefined));
  t.strictSame(
    (await many.hosts({ state: 'up' })).map(({ id }) => id),
    ['h0', 'h1'],
  );
  t.ok((await many.ping()) >= 0);
  await t.rejects(many.host('h0').media('play'), { code: 'FORBIDDEN' });
  await t.rejects(many.host('nobody').get(['stats']), { code: 'NOT_FOUND' });
  await hub.stop();
  await until(() => many.state.state === 'waiting');
  const asked = many.subscribe(['h0'], ['stats.memory']);
  const again = await startHub(t, agents, config);
  for (const id of Object.keys(agents)) await again.host(id, isUp);
  t.strictSame(await asked, { unknown: [] }, 'it waited for the connection');
  await until(() => all.every(({ streams }) => streams === 1));
  for (const agent of all) agent.sample({ timestamp: 2 });
  await until(() => samples.length === 4);
  t.strictSame(samples.slice(2).toSorted(), ['h0 2', 'h1 2'], 'subscribed to again');
  many.unsubscribe(['h0']);
  many.unsubscribeFleet();
  await until(() => all[0]?.streams === 0);
  many.close();
  await t.rejects(many.ping(), { code: 'closed' });
});

t.test('[I.hub.client] a thousand machines are subscribed to in few messages', async (t) => {
  const agents = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`host-${i}`, { url: 'http://127.0.0.1:1' }]),
  );
  const hub = await startHub(t, agents);
  const many = open(hub);
  t.teardown(() => many.close());
  const known = new Set<string>();
  many.on('host', ({ host: id }) => known.add(id));
  t.strictSame(await many.subscribe(Object.keys(agents), ['stats']), { unknown: [] });
  await until(() => known.size === 1000);
  t.equal(many.state.state, 'open');
  await t.rejects(
    many.subscribe(['host-1'], ['stats'], { detail: true }).then(() => many.host('x').get(['cpu'])),
    {
      code: 'NOT_FOUND',
    },
  );
});
