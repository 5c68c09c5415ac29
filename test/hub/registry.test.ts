/** A hub and machines that are not there: gone, leaving as they said, and after its own restart. */
import path from 'node:path';
import t, { type Test } from 'tap';
import type { HostList } from '#src/wire/hub.js';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { done, refused } from './played-machine.ts';
import { type Agents, isDown, isUnknown, isUp, PlayedMachine, startHub, watchPlayed } from './setup.ts';

const SYSTEM = { hostname: 'nas', platform: 'linux' };
const FACTS = { version: '0.9.0', os: 'Debian 12', model: 'Core i5', addresses: ['192.168.1.7'] };
const CPU = { current_load: 12.5, current_temp: 0, current_speed: 3 };
const USAGE = { timestamp: 5, uptime: 7, cpu: CPU, memory: { used: 1, free: 2, used_percent: 33.3 } };

/** It answers the questions of /api/system and /api/usage. */
async function startAgent(t: Test): Promise<PlayedMachine> {
  const agent = await PlayedMachine.start(t, 0, ({ name }) => done(name === 'system' ? SYSTEM : USAGE));
  Object.assign(agent.machine, FACTS);
  return agent;
}

/** A hub that asks its machines immediately, and remembers them in the folder of the test. */
const startRemembering = async (t: Test, agents: Agents, folder: string) =>
  await startHub(t, agents, { hub: { state_path: path.join(folder, 'machines') } }, {}, undefined, 0);

const linesOf = (body: Buffer) => body.toString().split('\n');

const entryOf = (agent: PlayedMachine) => ({ url: agent.url, labels: { site: 'berlin' } });

t.test('after a restart a dead machine has its name, labels, version and last values', async (t) => {
  const folder = t.testdir();
  const agent = await startAgent(t);
  const agents = { nas: entryOf(agent) };
  const first = await startRemembering(t, agents, folder);
  await first.host('nas', ({ version }) => version !== undefined);
  await first.host('nas', ({ last }) => last !== undefined);
  t.strictSame(
    agent.asked.map(({ name }) => name),
    ['system', 'usage'],
    'it is asked once',
  );
  await agent.stop();
  const { since } = await first.host('nas', isDown);
  await first.stop();

  const second = await startRemembering(t, { ...agents, never: { url: 'http://127.0.0.1:1' } }, folder);
  const row = await second.host('nas');
  t.match(row, {
    name: 'played',
    labels: { site: 'berlin' },
    state: 'down',
    since,
    ...FACTS,
    last: USAGE,
  });
  t.ok(row.last !== undefined && Math.abs(row.last.as_of - Date.now() / 1000) < 600);
  t.match(await second.host('never', isUnknown), { name: 'never', last: undefined });

  const usage = await ask(second.port, '/api/hosts/nas/usage');
  t.equal(usage.status, 200);
  t.strictSame(jsonOf(usage), { as_of: row.last?.as_of, ...USAGE });
  t.strictSame(jsonOf(await ask(second.port, '/api/hosts/nas/usage?fields=cpu')), {
    as_of: row.last?.as_of,
    timestamp: 5,
    uptime: 7,
    cpu: CPU,
  });
  t.match(jsonOf(await ask(second.port, '/api/hosts/nas/system')), { as_of: /./, hostname: 'nas' });
  const unreached = ['/api/hosts/nas/stream', '/api/hosts/nas/media/status', '/api/hosts/never/usage'];
  for (const target of unreached) t.equal((await ask(second.port, target)).status, 503, target);
});

t.test('the last values of a machine are those that its viewers saw', async (t) => {
  const folder = t.testdir();
  const agent = await startAgent(t);
  const hub = await startRemembering(t, { nas: entryOf(agent) }, folder);
  await hub.host('nas', ({ last }) => last?.timestamp === 5);
  await watchPlayed(hub, agent, 'nas', { timestamp: 77, cpu: { ...CPU, current_load: 99 } });
  await hub.host('nas', ({ last }) => last?.cpu?.current_load === 99);
  await agent.stop();
  await hub.host('nas', isDown);
  t.match(jsonOf(await ask(hub.port, '/api/hosts/nas/usage')), { timestamp: 77, cpu: { current_load: 99 } });
});

t.test('another URL of an id is another machine', async (t) => {
  const folder = t.testdir();
  const agent = await startAgent(t);
  const hub = await startRemembering(t, { nas: entryOf(agent) }, folder);
  await hub.host('nas', ({ last }) => last !== undefined);
  hub.reconfigure({ nas: { url: 'http://127.0.0.1:1' } });
  const row = await hub.host('nas', ({ state }) => state !== 'up');
  t.match(row, { name: 'nas', version: undefined, last: undefined });
  t.equal((await ask(hub.port, '/api/hosts/nas/usage')).status, 503);
});

t.test('a machine that refuses the questions is not asked again and again', async (t) => {
  const agent = await PlayedMachine.start(t, 0, () => refused('scope_required', { scope: 'read' }));
  const hub = await startRemembering(t, { nas: entryOf(agent) }, t.testdir());
  await until(() => agent.asked.length === 1);
  await watchPlayed(hub, agent, 'nas');
  agent.machine.name = 'other';
  agent.cut();
  t.match(await hub.host('nas', ({ name }) => name === 'other'), { state: 'up' });
  t.equal(agent.asked.length, 1);
  t.ok(isUp(await hub.host('nas')));
});

t.test('the metrics of one machine, and whether each is up', async (t) => {
  const detail = {
    ...USAGE,
    cpu: { ...CPU, temperature: 48, load_average: [1, 2, 3] },
    memory: { ...USAGE.memory, total: 3, swap: { total: 9, used: 1, free: 8 } },
    disks: [
      { fs: '/"x', device: '/dev/sda1', type: 'ext4', size: 10, available: 4, stale: false, read_only: null },
    ],
    network: { interfaces: [{ name: 'eth0', bytesRecv: 5, bytesSent: 6, errin: null }] },
    gpu: { devices: [{ name: 'A', vendor: 'B', load: 50, memory_used: 1 }] },
    batteries: [{ name: 'BAT0', percent: 80 }],
  };
  const agent = await PlayedMachine.start(t, 0, () => done(detail));
  const hub = await startHub(t, {
    nas: { url: agent.url, name: 'Storage' },
    gone: { url: 'http://127.0.0.1:1' },
  });
  await hub.host('nas', isUp);
  const answer = await ask(hub.port, '/api/hosts/Storage/metrics');
  t.equal(answer.status, 200);
  t.match(valuesOf(answer, 'content-type'), [/^text\/plain; version=0\.0\.4/]);
  t.strictSame(
    linesOf(answer.body).filter((line) => line !== '' && !line.startsWith('#')),
    [
      'node_time_seconds 5',
      'hostwire_cpu_load_ratio 0.125',
      'hostwire_cpu_temperature_celsius 48',
      'hostwire_cpu_speed_hertz 3000000000',
      'node_load1 1',
      'node_load5 2',
      'node_load15 3',
      'node_memory_MemTotal_bytes 3',
      'node_memory_MemAvailable_bytes 2',
      'node_memory_SwapTotal_bytes 9',
      'node_memory_SwapFree_bytes 8',
      'node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/\\"x"} 10',
      'node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/\\"x"} 4',
      'node_filesystem_device_error{device="/dev/sda1",fstype="ext4",mountpoint="/\\"x"} 0',
      'node_network_receive_bytes_total{device="eth0"} 5',
      'node_network_transmit_bytes_total{device="eth0"} 6',
      'hostwire_gpu_load_ratio{gpu="0",name="A",vendor="B"} 0.5',
      'hostwire_gpu_memory_used_bytes{gpu="0",name="A",vendor="B"} 1048576',
      'node_power_supply_capacity{power_supply="BAT0"} 80',
    ],
  );
  t.equal((await ask(hub.port, '/api/hosts/gone/metrics')).status, 503);
  const own = (await ask(hub.port, '/metrics')).body.toString();
  for (const line of [
    'hostwire_hub_host_up{host="nas"} 1',
    'hostwire_hub_host_up{host="gone"} 0',
    /^hostwire_build_info\{version="0.0.0-test",engine="\w+",node="v0",platform="linux"\} 1$/m,
    /^hostwire_refused_requests_total\{reason="\w+"\} \d+$/m,
  ])
    t.match(own, line);
  hub.reconfigure({ nas: { url: agent.url } }, { features: { enable_metrics: false } });
  t.equal((await ask(hub.port, '/api/hosts/nas/metrics')).status, 403);
});

t.test('ids and names name a machine in paths', async (t) => {
  const agent = await startAgent(t);
  const { url } = agent;
  const hub = await startHub(t, {
    a: { url, name: 'b' },
    b: { url, name: 'Büro 1/2' },
    c: { url, name: 'twins' },
    d: { url, name: 'twins' },
    e: { url },
  });
  for (const id of ['a', 'b', 'c', 'd', 'e']) await hub.host(id, isUp);
  const at = async (name: string) => await ask(hub.port, `/api/hosts/${name}/usage`);
  const served = async (name: string) => {
    t.equal((await at(name)).status, 200, name);
    return (await hub.hosts()).map(({ last }) => last !== undefined);
  };
  t.strictSame(await served('b'), [false, true, false, false, false], 'an id before a name');
  t.strictSame(await served('B%C3%BCro%201%2F2'), [false, true, false, false, false]);
  t.strictSame(await served('played'), [false, true, false, false, true], 'the host name of one');
  const twins = await at('twins');
  t.equal(twins.status, 404);
  t.match(jsonOf(twins), { code: 'not_found', details: { ids: ['c', 'd'] } });
  for (const name of ['nobody', '%', '%FF', 'B%C3%BCro']) t.equal((await at(name)).status, 404, name);
});

t.test('a list in pages, and of several states', async (t) => {
  const agent = await startAgent(t);
  const dead = { url: 'http://127.0.0.1:1' };
  const hub = await startHub(t, { a: dead, b: { url: agent.url, name: 'Büro' }, c: dead, d: dead });
  t.match(await hub.host('b', isUp), { name: 'Büro' });
  // test/hub/routes.test.ts checks it.
  const page = async (query: string) => jsonOf(await ask(hub.port, `/api/hosts?${query}`)) as HostList;
  const ids = ({ hosts }: HostList) => hosts.map(({ id }) => id).join();
  const first = await page('limit=3');
  t.strictSame([ids(first), first.next], ['a,b,c', 'c']);
  const second = await page('limit=3&after=c');
  t.strictSame([ids(second), second.next], ['d', undefined]);
  t.strictSame(ids(await page('limit=2&state=up&state=unknown&after=a')), 'b,c');
  t.strictSame(ids(await page('state=up&state=down')), 'b');
  for (const query of ['limit=0', 'limit=x', 'limit=10001', 'limit=', 'after=', 'after=a%20b', 'state=gone'])
    t.equal((await ask(hub.port, `/api/hosts?${query}`)).status, 400, query);
});

const ENDS = [
  { reason: 'sleep', state: 'asleep' },
  { reason: 'hibernate', state: 'asleep' },
  { reason: 'shutdown', state: 'off' },
  { reason: 'restart', state: 'off' },
  { reason: 'stop', state: 'down' },
] as const;

for (const { reason, state } of ENDS)
  t.test(`[11.states] ${reason}: ${state} until it is back, and after a restart of the hub`, async (t) => {
    const machine = await PlayedMachine.start(t);
    const { port } = machine;
    const config = { hub: { state_path: path.join(t.testdir(), 'machines') } };
    const agents = { pc: { url: machine.url } };
    const hub = await startHub(t, agents, config);
    await hub.host('pc', isUp);
    machine.say('closing', { reason });
    const gone = await hub.host('pc', (row) => row.state === state);
    machine.stop();
    // Attempts to reach it fail now.
    await hub.host('pc', ({ since }) => Date.now() / 1000 - since > 1);
    const later = await hub.host('pc');
    t.equal(later.state, state);
    t.equal(later.since, gone.since, 'since it went');
    t.equal(later.reason, gone.reason, 'and why');
    await hub.stop();
    const next = await startHub(t, agents, config);
    await new Promise((resolve) => setTimeout(resolve, 500));
    t.equal((await next.host('pc')).state, state, 'the next hub remembers it');
    await PlayedMachine.start(t, port);
    await next.host('pc', isUp);
  });
