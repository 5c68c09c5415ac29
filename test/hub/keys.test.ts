/** Keys of a hub: the rules of `hub.commands`, the audit trails of hub and machine, and what `read` alone shows. */
import t, { type Test } from 'tap';
import type { CommandRule } from '#src/config/rows/hub-rows.js';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { livelyHost } from '../helpers/fakes/lively-host.ts';
import { bearer, keyOf, keyWith } from '../helpers/keys.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { allFlags, startCommanded } from './commanded.ts';
import { connect, dialIn } from './keys-setup.ts';
import { PlayedMachine } from './played-machine.ts';
import { eventWith, fleetEvents, isUp, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const RULED: ConfigPart = {
  auth: {
    enabled: true,
    keys: { phone: keyWith('phone', 'read', 'media'), tv: keyWith('tv', 'read', 'media') },
  },
  hub: { commands: { phone: { commands: ['media.*', 'power.*'], keys: ['phone'], labels: {} } } },
};

const HUB_KEYS: ConfigPart = { auth: { enabled: true, keys: { hub: keyWith('hub', 'admin') } } };

for (const { name, start, hubName } of [
  {
    name: 'connected',
    start: (t: Test) => connect(t, HUB_KEYS, keyOf('hub')),
    hubName: 'hub',
  },
  { name: 'dialled in', start: (t: Test) => dialIn(t, {}), hubName: 'hub.url' },
])
  t.test(`[10.keys-hub] ${name}: a command needs the scope and a rule, and both write the key`, async (t) => {
    const { machine, hub, agents, id } = await start(t);
    hub.reconfigure(agents, RULED);
    const post = async (key: string, target: string, body: string) => {
      const answer = await ask(hub.port, `/api/hosts/${id}/${target}`, {
        method: 'POST',
        headers: { ...bearer(key), 'Content-Type': 'application/json' },
        body,
      });
      return [answer.status, ...valuesOf(answer, 'x-error-code')];
    };
    const pause = ['media/control', '{"action":"pause"}'] as const;
    t.strictSame(await post('tv', ...pause), [403, 'command_not_allowed']);
    t.strictSame(await post('phone', 'pw/lock', ''), [403, 'scope_required']);
    t.strictSame(await post('phone', 'media/control', '{'), [400], 'allowed: now the body is parsed');
    t.strictSame(
      await post('phone', 'wake', '{'),
      [403, 'scope_required'],
      'refused before the body is parsed',
    );
    t.strictSame(machine.acts(), []);
    t.strictSame(await post('phone', ...pause), [200]);
    t.strictSame(machine.acts(), ['pause undefined']);
    const line = await until(() => machine.audit().find((each) => each.includes('media: pause done')));
    t.ok(line.endsWith(` address=127.0.0.1 keyed=true hub=${hubName} key=phone`), line);
    t.ok(
      hub.log.some((each) =>
        each.includes(`media: pause done host=${id} address=127.0.0.1 keyed=true key=phone`),
      ),
      'the trail of the hub',
    );
  });

t.test(
  '[10.keys-hub] what a client may do on a machine: its key, the rules, and the key of the hub',
  async (t) => {
    const keys = { hub: keyWith('hub', 'admin'), few: keyWith('few', 'read', 'media', 'power.lock') };
    const { service } = await startCommanded(t, { auth: { enabled: true, keys } });
    const agentWith = (name: string) => ({
      url: service.baseUrl,
      key_file: { path: 'k', secret: keyOf(name) },
    });
    const agents = { a: agentWith('hub'), b: agentWith('few') };
    const hub = await startHub(t, agents);
    await hub.host('a', isUp);
    await hub.host('b', isUp);
    const auth = {
      enabled: true,
      keys: {
        admin: keyWith('admin', 'admin'),
        phone: keyWith('phone', 'read', 'media', 'power'),
        blind: keyWith('blind', 'media'),
      },
    };
    const all = { commands: ['*'], labels: {} };
    const cases: readonly {
      readonly rule?: CommandRule;
      readonly client: string;
      readonly machine: string;
      readonly scopes: readonly string[];
    }[] = [
      { client: 'phone', machine: 'a', scopes: ['read'] },
      { client: 'admin', machine: 'a', scopes: ['read', 'processes', 'metrics', 'hub'] },
      { rule: all, client: 'admin', machine: 'a', scopes: ['admin'] },
      { rule: all, client: 'phone', machine: 'a', scopes: ['read', 'media', 'power'] },
      { rule: all, client: 'phone', machine: 'b', scopes: ['read', 'media', 'power.lock'] },
      { rule: { ...all, keys: ['admin'] }, client: 'phone', machine: 'a', scopes: ['read'] },
      { rule: { ...all, hosts: ['a'] }, client: 'phone', machine: 'b', scopes: ['read'] },
      {
        rule: { ...all, commands: ['media.play', 'power.sleep', 'power.lock'] },
        client: 'phone',
        machine: 'a',
        scopes: ['read', 'media', 'power.sleep', 'power.lock'],
      },
      { client: 'blind', machine: 'nowhere', scopes: ['media'] },
    ];
    for (const { rule, client, machine, scopes } of cases) {
      hub.reconfigure(agents, { auth, hub: { commands: rule === undefined ? {} : { r: rule } } });
      const answer = await ask(hub.port, `/api/hosts/${machine}/access`, { headers: bearer(client) });
      const what = JSON.stringify([rule, client, machine]);
      t.strictSame(jsonOf(answer), { key: client, scopes, expires: null }, what);
    }
    const unknown = await ask(hub.port, '/api/hosts/nowhere/access', { headers: bearer('phone') });
    t.equal(unknown.status, 404);
  },
);

const ALL_PROCESS_KEYS = ['cpu', 'cpu_time', 'memory', 'memory_mb', 'name', 'pid'];

/** The keys of all rows of processes anywhere in `value`. */
function processKeys(value: unknown, isBelow = false): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((each: unknown) => [
      ...(isBelow && typeof each === 'object' && each !== null ? Object.keys(each) : []),
      ...processKeys(each, isBelow),
    ]);
  return Object.entries(value).flatMap(([key, each]) =>
    processKeys(each, isBelow || key === 'processes' || key.startsWith('top_')),
  );
}

t.test('[10.keys-hub-views] with read alone no view has a command line, a user or a path', async (t) => {
  const service = await serveHere(t, livelyHost(), { features: allFlags(true), history: { minutes: 60 } });
  const agents = { a: { url: service.baseUrl } };
  const hub = await startHub(t, agents);
  await hub.host('a', isUp);
  hub.reconfigure(agents, { auth: { enabled: true, keys: { reader: keyWith('reader', 'read') } } });
  const headers = bearer('reader');
  const read = async (target: string) => jsonOf(await ask(hub.port, target, { headers }));
  const hasTop = (payload: Readonly<Record<string, unknown>>) =>
    JSON.stringify(payload).includes('"top_cpu":[');
  const views: Record<string, unknown> = {
    hosts: await read('/api/hosts'),
    system: await read('/api/hosts/a/system?detail=1'),
    history: await read('/api/hosts/a/history'),
    usage: await until(async () => {
      const payload = await read('/api/hosts/a/usage?detail=1');
      return hasTop(payload as Readonly<Record<string, unknown>>) ? payload : undefined; // An object.
    }),
    stream: await eventWith(await hub.open('/api/hosts/a/stream?detail=1', headers), hasTop),
  };
  const fleet = await hub.open('/api/fleet/stream?detail=1', headers);
  views['fleet'] = await until(() =>
    fleetEvents(fleet).find(({ hosts }) => hasTop({ sample: hosts['a']?.sample })),
  );
  const client = await HubClient.open(t, hub, '/api/ws', headers);
  const topics = ['stats', 'media', 'power', 'events', 'processes'];
  const { data } = await client.ask('subscribe', { host: 'a', data: { topics, detail: true } });
  t.strictSame(data['forbidden'], ['processes']);
  views['topic stats'] = await client.take((told) => told.type === 'system_stats' && hasTop(told.data));
  await client.ask('subscribe', { data: { topics: ['fleet'], detail: true } });
  views['topic fleet'] = await client.take((told) => told.type === 'fleet' && hasTop(told.data));
  for (const [name, view] of Object.entries(views)) {
    const keys = [...new Set(processKeys(view))].sort();
    if (['hosts', 'system', 'history'].includes(name)) t.strictSame(keys, [], name);
    else t.strictSame(keys, ALL_PROCESS_KEYS, `${name}: the busiest programs by name, and nothing more`);
    t.notMatch(JSON.stringify(view), /\/usr\/bin|--profile|\/home\/ada/, name);
  }
});

t.test('[10.keys-uses] a hub notes the uses of its own keys', async (t) => {
  const { hub, agents } = await connect(t, {});
  const keys = { tv: keyWith('tv', 'read'), admin: keyWith('admin', 'admin') };
  hub.reconfigure(agents, { auth: { enabled: true, keys } });
  const useOfTv = async () => {
    const { body } = await ask(hub.port, '/api/keys', { headers: bearer('admin') });
    const list = JSON.parse(body.toString()) as {
      keys: readonly { name: string; last_use: { address: string } | null; open: number }[];
    };
    const { last_use: last = null, open } = list.keys.find(({ name }) => name === 'tv') ?? { open: -1 };
    return [last?.address, open];
  };
  t.strictSame(await useOfTv(), [undefined, 0]);
  await ask(hub.port, '/api/hosts/a/usage', { headers: bearer('tv') });
  t.strictSame(await useOfTv(), ['127.0.0.1', 0]);
  const streams = [
    await hub.open('/api/hosts/a/stream', bearer('tv')),
    await hub.open('/api/fleet/stream', bearer('tv')),
  ];
  const socket = await SocketClient.open(hub.port, { headers: bearer('tv'), from: '127.0.0.6' });
  t.strictSame(await useOfTv(), ['127.0.0.6', 3]);
  socket.cut();
  for (const stream of streams) stream.close();
  await until(async () => (await useOfTv())[1] === 0);
});

t.test('[10.keys-hub] a key of the hub without the scope hub is reported, once per run', async (t) => {
  const machine = await PlayedMachine.start(t);
  machine.scopes = ['read', 'media'];
  const hub = await startHub(t, { a: { url: machine.url } });
  await hub.host('a', isUp);
  machine.cut();
  await until(() => machine.connections === 2);
  await hub.host('a', isUp);
  t.strictSame(
    hub.log
      .filter((line) => line.includes('lacks the scope'))
      .map((line) => line.replace(/^.*?warn: /, '').trim()),
    [
      'host a: the key of this hub lacks the scope hub there: it does not know for whom this hub asks, and does not delay its sleep for it',
    ],
  );
});
