/** Keys with scopes over real sockets: every route and every op for every scope, and the end of what a key has opened. */
import t from 'tap';
import { describeDigest } from '#src/access/key.js';
import { SCOPES } from '#src/scopes.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, valuesOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { livelyHost } from '../helpers/fakes/lively-host.ts';
import { bearer, KEYS, keyOf, keyWith } from '../helpers/keys.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { judgeRoutes, judgeSockets } from '../hub/keys-setup.ts';
import { OP_CASES, type OpCase, routeCases } from '../hub/scope-cases.ts';

const CONFIG: ConfigPart = {
  auth: { enabled: true, keys: KEYS },
  features: {
    enable_restart: true,
    enable_shutdown: true,
    enable_process_control: true,
    enable_wake: true,
    enable_metrics: true,
  },
  history: { minutes: 60 },
};

t.test(
  '[10.keys-routes] each route for each scope, without a key, and with keys that are wrong',
  async (t) => {
    const service = await serveHere(t, livelyHost(), CONFIG);
    await judgeRoutes(t, service.port, routeCases());
  },
);

/** Topics that have no state to follow, and what needs no scope. */
const MORE_OPS: readonly OpCase[] = [
  { op: 'ping', data: {}, needed: 'any' },
  ...['cpu', 'system', 'art'].map((topic) => ({
    op: 'get',
    data: { topics: [topic] },
    needed: 'read' as const,
  })),
];

t.test('[10.keys-ops] each op of a WebSocket for each scope', async (t) => {
  const service = await serveHere(t, livelyHost(), CONFIG);
  await judgeSockets(t, service.port, [{ path: '/api/ws', named: {} }], [...OP_CASES, ...MORE_OPS]);
  for (const scope of SCOPES) {
    const { data } = await (await SocketClient.openIn(t, service.port, { headers: bearer(scope) })).take(
      'connected',
    );
    t.strictSame(data['scopes'], scope === 'admin' ? undefined : [scope]);
    t.equal(data['key'], scope.replace('.', '-'));
  }
});

t.test('[10.keys-guests] guests without authentication, and a key beside them', async (t) => {
  const service = await serveHere(t, livelyHost(), {
    ...CONFIG,
    auth: { enabled: false, keys: KEYS, guests: ['read'] },
  });
  const statusOf = async (target: string, headers = {}) =>
    (await ask(service.port, target, { headers })).status;
  t.equal(await statusOf('/api/usage'), 200);
  t.equal(await statusOf('/api/processes'), 403);
  t.equal(await statusOf('/api/processes', bearer('old')), 403, 'a key that has expired is that of a guest');
  t.equal(await statusOf('/api/processes', bearer('processes')), 200);
  t.equal(await statusOf('/api/usage', bearer('processes')), 403, 'a key has its own scopes only');
});

t.test('[10.keys-access] a client can ask what it may do, on a WebSocket too', async (t) => {
  const expires = '2099-12-31T12:00:00Z';
  const keys = {
    ...KEYS,
    media: { digest: describeDigest(keyOf('media')), scopes: ['media', 'power.lock'] as const, expires },
  };
  const service = await serveHere(t, livelyHost(), {
    ...CONFIG,
    auth: { enabled: false, api_key: keyOf('all'), keys, guests: ['read'] },
  });
  for (const [headers, expected] of [
    [{}, { key: null, scopes: ['read'], expires: null }],
    [bearer('old'), { key: null, scopes: ['read'], expires: null }],
    [bearer('unknown'), { key: null, scopes: ['read'], expires: null }],
    [bearer('all'), { key: 'default', scopes: ['admin'], expires: null }],
    [bearer('power'), { key: 'power', scopes: ['power'], expires: null }],
    [bearer('media'), { key: 'media', scopes: ['media', 'power.lock'], expires: Date.parse(expires) / 1000 }],
  ] as const) {
    const answer = await ask(service.port, '/api/access', { headers });
    t.equal(answer.status, 200);
    t.strictSame(valuesOf(answer, 'cache-control'), ['no-store']);
    t.strictSame(jsonOf(answer), expected, JSON.stringify(headers));
    const client = await SocketClient.openIn(t, service.port, { headers });
    const { data } = await client.take('connected');
    t.equal(data['key'], expected.key ?? undefined, 'the greeting names the same key');
  }
});

t.test('[10.keys-revoked] what a key has opened ends with the key, and nothing else', async (t) => {
  const service = await serveHere(t, livelyHost(), CONFIG);
  const open = async (name: string) => {
    const stream = await EventStream.open(service.port, '/api/stream', bearer(name));
    const socket = await SocketClient.openIn(t, service.port, { headers: bearer(name) });
    return { stream, socket };
  };
  const [reader, admin] = [await open('read'), await open('admin')];
  const isOver = ({ stream, socket }: typeof reader) => stream.connection.isClosed && socket.isClosed;
  const isOpen = ({ stream, socket }: typeof reader) => !stream.connection.isClosed && !socket.isClosed;
  const { read: _read, ...others } = KEYS as Readonly<Record<string, object>>;
  const reconfigure = (keys: object) =>
    service.reconfigure({ ...CONFIG, auth: { enabled: true, keys } } as ConfigPart);
  reconfigure(KEYS);
  await admin.socket.settle();
  t.ok(isOpen(reader) && isOpen(admin), 'the same keys');
  reconfigure(others);
  await until(() => isOver(reader));
  t.ok(isOpen(admin), 'others stay');
  // Fewer scopes, another digest, the end of its life.
  for (const change of [
    { scopes: ['media'] },
    { digest: describeDigest(keyOf('other')) },
    { expires: '2020-01-01' },
  ]) {
    reconfigure(KEYS);
    const again = await open('read');
    reconfigure({ ...KEYS, read: { ...(KEYS as Readonly<Record<string, object>>)['read'], ...change } });
    await until(() => isOver(again), JSON.stringify(change));
  }
  reconfigure({
    ...KEYS,
    admin: { ...(KEYS as Readonly<Record<string, object>>)['admin'], scopes: ['admin', 'read'] },
  });
  await admin.socket.settle();
  t.ok(isOpen(admin), 'as many scopes');
});

interface Listed {
  readonly name: string;
  readonly last_use: { readonly at: number; readonly address: string } | null;
  readonly open: number;
}

t.test(
  '[10.keys-uses] the last use of each key: requests, streams and sockets, and nothing else',
  async (t) => {
    const startedAt = Math.floor(Date.now() / 1000);
    const home = { ...KEYS.old, digest: describeDigest(keyOf('home')), addresses: ['127.0.0.9'] };
    const { expires: _expires, ...atHome } = home;
    const keys = { ...KEYS, home: atHome };
    const config: ConfigPart = { ...CONFIG, auth: { enabled: true, keys } };
    const service = await serveHere(t, livelyHost(), config);
    const list = async (headers = bearer('admin')) => {
      const answer = await ask(service.port, '/api/keys', { headers });
      t.equal(answer.status, 200);
      t.notMatch(answer.body.toString(), /sha256|digest|-000/, 'no key and no digest');
      return JSON.parse(answer.body.toString()) as { since: number; keys: readonly Listed[] };
    };
    const useOf = async (name: string) => {
      const { keys: rows } = await list();
      const { last_use: last = null, open } = rows.find((row) => row.name === name) ?? { open: -1 };
      return { address: last?.address, at: last?.at, open };
    };
    const first = await list();
    t.ok(first.since >= startedAt);
    t.strictSame(
      first.keys.map(({ name }) => name),
      Object.keys(keys),
    );
    t.ok(
      first.keys.every(({ last_use: last, open }) => last === null && open === 0),
      'not used, and the request that asks is left out',
    );
    await ask(service.port, '/api/usage', { headers: bearer('read') });
    const { address, at = 0, open } = await useOf('read');
    t.strictSame([address, open], ['127.0.0.1', 0]);
    t.ok(at >= startedAt && at <= Date.now() / 1000);
    await ask(service.port, '/api/usage', { headers: bearer('read') }, '127.0.0.3');
    t.equal((await useOf('read')).address, '127.0.0.3');

    for (const headers of [bearer('old'), bearer('home'), bearer('unknown'), {}])
      t.equal((await ask(service.port, '/api/usage', { headers })).status, 401);
    for (const name of ['old', 'home']) t.match(await useOf(name), { address: undefined, open: 0 }, name);
    t.equal((await ask(service.port, '/api/usage', { headers: bearer('home') }, '127.0.0.9')).status, 200);
    t.equal((await useOf('home')).address, '127.0.0.9');

    const stream = await EventStream.open(service.port, '/api/stream', bearer('read'));
    await until(async () => (await useOf('read')).open === 1);
    const socket = await SocketClient.open(service.port, { headers: bearer('read'), from: '127.0.0.5' });
    t.match(await useOf('read'), { address: '127.0.0.5', open: 2 });
    await ask(service.port, '/api/usage', { headers: bearer('read') });
    t.match(await useOf('read'), { address: '127.0.0.1', open: 2 });
    socket.say('get', { topics: ['cpu'] }, 'one');
    await socket.take(({ id }) => id === 'one');
    t.match(await useOf('read'), { address: '127.0.0.5', open: 2 }, 'a message of a socket is a use');
    socket.cut();
    await until(async () => (await useOf('read')).open === 1);
    t.equal((await useOf('read')).address, '127.0.0.5', 'used until it closed');
    stream.close();
    await until(async () => (await useOf('read')).open === 0);
    t.equal((await useOf('read')).address, '127.0.0.1');

    const { read: _read, ...others } = keys as Readonly<Record<string, object>>;
    const reconfigure = (next: object) =>
      service.reconfigure({ ...CONFIG, auth: { enabled: true, keys: next } } as ConfigPart);
    reconfigure(others);
    t.equal((await useOf('read')).open, -1, 'not listed');
    t.equal((await useOf('home')).address, '127.0.0.9', 'a reload keeps the others');
    reconfigure(keys);
    t.match(await useOf('read'), { address: undefined, open: 0 });
  },
);

t.test('[10.keys-uses] the list needs a key, also where everything else is open', async (t) => {
  const service = await serveHere(t, livelyHost(), { auth: { enabled: false, keys: KEYS } });
  const statusOf = async (headers: Readonly<Record<string, string>>) =>
    (await ask(service.port, '/api/keys', { headers })).status;
  t.equal((await ask(service.port, '/api/usage')).status, 200);
  t.equal(await statusOf({}), 401);
  t.equal(await statusOf(bearer('unknown')), 401);
  t.equal(await statusOf(bearer('old')), 401);
  t.equal(await statusOf(bearer('read')), 403);
  t.equal(await statusOf(bearer('admin')), 200);
});

t.test(
  '[10.keys-trail] a command that a key does not allow has a line in the trail, and is counted',
  async (t) => {
    const auth = { enabled: true, keys: { wall: keyWith('wall', 'read', 'metrics') } };
    const service = await serveHere(t, livelyHost(), { auth });
    const headers = bearer('wall');
    t.equal((await ask(service.port, '/api/pw/lock', { method: 'POST', headers })).status, 403);
    t.equal((await ask(service.port, '/api/processes', { headers })).status, 403);
    const client = await SocketClient.openIn(t, service.port, { headers });
    t.match((await client.ask('media', { action: 'play' }, 'm')).data, { code: 'FORBIDDEN' });
    const trail = service.stderr().match(/(?:power: lock|media|processes) refused: scope_required.*/g);
    const by = 'refused: scope_required address=127.0.0.1 keyed=true key=wall';
    t.strictSame(trail, [`power: lock ${by}`, `media ${by}`]);
    const { body } = await ask(service.port, '/metrics', { headers });
    t.match(String(body), /^hostwire_refused_requests_total\{reason="scope_required"\} 3$/m);
  },
);
