/** The WebSockets of the hub: samples and states of one machine and of many, the fleet, what is refused. */
import t from 'tap';
import { flawOf as flawOfMessage } from '../helpers/clients/message-flaw.ts';
import { Refused, SocketClient } from '../helpers/clients/socket.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { findFreePort } from '../helpers/service/free-port.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { isUnknown, isUp, PlayedMachine, startHub } from './setup.ts';
import { HubClient, type HubTold } from './socket-setup.ts';

const flawOf = (told: HubTold) => flawOfMessage(told, true);

/** `port`: of the first agent. */
async function startTwo(t: Parameters<typeof startHub>[0], port = 0) {
  const [a, b] = [await PlayedMachine.start(t, port), await PlayedMachine.start(t)];
  const agents = {
    a: { url: a.url, labels: { site: 'berlin' } },
    b: { url: b.url, labels: { site: 'paris' } },
    gone: { url: 'http://127.0.0.1:1' },
  };
  const hub = await startHub(t, agents);
  for (const id of ['a', 'b']) await hub.host(id, isUp);
  await hub.host('gone', ({ reason }) => reason === 'connection refused');
  return { a, b, agents, hub };
}

const isSampleOf = (host: string, timestamp: number) => (told: HubTold) =>
  told.type === 'system_stats' && told.host === host && told.data['timestamp'] === timestamp;

t.test('[I.hub.ws-one] the socket of one machine speaks the protocol of its own /api/ws', async (t) => {
  const service = await serveHere(t, fixtureHost(), { stats: { stream_interval_seconds: 1 } });
  const hub = await startHub(t, { pc: { url: service.baseUrl } });
  await hub.host('pc', isUp);
  const own = await SocketClient.openIn(t, service.port);
  const through = await SocketClient.openIn(t, hub.port, { path: '/api/hosts/pc/ws' });
  t.match((await through.take('connected')).data, { version: '0.0.0-test', protocol: 2 });
  for (const data of [
    { topics: ['stats'] },
    { topics: ['cpu', 'Stats.Memory', 'net', 'nothing'] },
    { topics: ['stats.gpu'], mode: 'add', detail: true },
  ]) {
    const [theirs, ours] = await Promise.all(
      [own, through].map(async (client) => {
        const id = JSON.stringify(data).slice(0, 100);
        client.say('subscribe', data, id);
        const subscribed = await client.take((told) => told.id === id && told.type === 'subscribed');
        const answer = await client.take((told) => told.id === id && told.type === 'system_stats');
        const isLater = (told: HubTold) => client.told.indexOf(told) > client.told.indexOf(answer);
        const next = await client.take((told) => told.type === 'system_stats' && isLater(told));
        const keys = [answer, next].map((told) => [
          Object.keys(JSON.parse(told.text)),
          Object.keys(told.data),
        ]);
        return [subscribed.text, keys];
      }),
    );
    t.strictSame(ours, theirs, JSON.stringify(data));
  }
  for (const client of [own, through]) {
    const answer = await client.ask('get', { topics: ['stats.cpu'] }, 'get');
    t.strictSame(Object.keys(answer.data), ['timestamp', 'uptime', 'cpu']);
  }
  for (const text of [
    '{',
    '[]',
    '{"op":"dance","id":1}',
    '{"op":"subscribe","id":2}',
    '{"op":"get","data":{"topics":["x"]},"id":3}',
    '{"op":1}',
  ]) {
    own.sayText(text);
    through.sayText(text);
    const theirs = await own.take('error');
    t.equal((await through.take('error')).text, theirs.text, text);
  }
  for (const told of through.told) t.equal(flawOf(told), undefined);
});

t.test('[I.hub.ws-many] one socket, many machines: each message names its machine', async (t) => {
  const { a, b, hub } = await startTwo(t);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { hosts: ['a', 'b', 'gone', 'nobody'], data: { topics: ['stats.cpu'] } }, 7);
  for (const host of ['a', 'b', 'gone'])
    t.match(await client.take((told) => told.type === 'subscribed' && told.host === host), {
      id: 7,
      data: { topics: ['stats.cpu'], unknown: [] },
    });
  t.match(await client.take('error'), { id: 7, host: 'nobody', data: { code: 'NOT_FOUND' } });
  t.match(await client.take((told) => told.type === 'host' && told.host === 'gone'), {
    data: { state: 'unknown', reason: 'connection refused' },
  });
  await until(() => a.streams === 1 && b.streams === 1);
  t.strictSame([...a.queries, ...b.queries], ['cpu', 'cpu'], 'only what is wanted');
  a.sample({ timestamp: 1, uptime: 1, cpu: { current_load: 1, current_temp: 40, current_speed: 2 } });
  const first = await client.take(isSampleOf('a', 1));
  t.equal(first.id, 7, 'the first sample answers the message');
  a.sample({ timestamp: 2, uptime: 2 });
  b.sample({ timestamp: 3, uptime: 3 });
  t.notOk('id' in (await client.take(isSampleOf('a', 2))));
  await client.take(isSampleOf('b', 3));
  client.say('unsubscribe', { host: 'a' }, 8);
  t.match(await client.take((told) => told.id === 8), { host: 'a', data: { topics: [] } });
  await until(() => a.streams === 0);
  b.sample({ timestamp: 4, uptime: 4 });
  await client.take(isSampleOf('b', 4));
  for (const told of client.told) t.equal(flawOf(told), undefined);
});

t.test('[I.hub.ws-share] sockets and event streams share the stream of an agent', async (t) => {
  const { a, hub } = await startTwo(t);
  const clients = await Promise.all([1, 2, 3].map(async () => await HubClient.open(t, hub)));
  for (const client of clients) client.say('subscribe', { host: 'a', data: { topics: ['stats'] } }, 1);
  await until(() => a.streams === 1);
  const opening = hub.open('/api/hosts/a/stream');
  const one = await HubClient.open(t, hub, '/api/hosts/a/ws');
  one.say('subscribe', { data: { topics: ['stats'] } }, 1);
  await one.take('subscribed');
  a.sample({ timestamp: 1, odd: '  ä\u2028}"' });
  await opening;
  for (const client of clients)
    t.equal((await client.take(isSampleOf('a', 1))).data['odd'], '  ä\u2028}"', 'as it was sent');
  t.match(await one.take('system_stats'), { data: { timestamp: 1 } });
  for (let timestamp = 2; timestamp < 40; timestamp++) a.sample({ timestamp });
  for (const client of clients) await client.take(isSampleOf('a', 39));
  for (const client of clients) {
    const times = client.told
      .filter(({ type }) => type === 'system_stats')
      .map(({ data }) => data['timestamp']);
    t.strictSame(
      times,
      [...times].sort((x, y) => Number(x) - Number(y)),
      'in order',
    );
    t.equal(new Set(times).size, times.length, 'none twice');
  }
  t.equal(a.queries.length, 1, 'one stream for all');
});

t.test('[I.hub.ws-state] a machine that goes and comes back', async (t) => {
  const port = await findFreePort();
  const { a, agents, hub } = await startTwo(t, port);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { host: 'a', data: { topics: ['stats'] } });
  await until(() => a.streams === 1);
  a.sample({ timestamp: 1 });
  await client.take(isSampleOf('a', 1));
  a.stop();
  t.match(await client.take((told) => told.type === 'host' && told.data['state'] === 'down'), { host: 'a' });
  const late = await HubClient.open(t, hub);
  late.say('subscribe', { host: 'a', data: { topics: ['stats'] } });
  t.match(await late.take('host'), { data: { state: 'down' } });
  t.notOk(
    (await late.settle()).some(({ type }) => type === 'system_stats'),
    'no old sample',
  );
  const again = await PlayedMachine.start(t, port);
  await until(() => again.streams === 1);
  again.sample({ timestamp: 5 });
  for (const each of [client, late]) {
    await each.take(isSampleOf('a', 5));
    t.ok(each.told.some(({ type, data }) => type === 'host' && data['state'] === 'up'));
  }
  const one = await HubClient.open(t, hub, '/api/hosts/a/ws');
  const { a: _, ...others } = agents;
  hub.reconfigure(others);
  t.match(await client.take('error'), { host: 'a', data: { code: 'NOT_FOUND' } }, 'it is configured no more');
  t.equal((await one.socket.closed).code, 1001);
});

t.test('[I.hub.ws-fleet] the topic fleet has the events of the fleet stream', async (t) => {
  const { a, hub } = await startTwo(t);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { data: { topics: ['fleet'], fields: ['cpu', 'odd'] } }, 1);
  t.match(await client.take((told) => told.id === 1), { data: { topics: ['fleet'], unknown: ['odd'] } });
  const first = await client.take('fleet');
  t.equal(first.data['all'], true);
  t.strictSame(Object.keys(first.data['hosts'] as object).sort(), ['a', 'b', 'gone']);
  await until(() => a.streams === 1);
  a.sample({ timestamp: 1, uptime: 1 });
  const second = await client.take(
    ({ type, data }) => type === 'fleet' && Object.hasOwn(data['hosts'] as object, 'a'),
  );
  t.match(second.data, { all: false, hosts: { a: { sample: { timestamp: 1 } } } });
  client.say('subscribe', { data: { topics: ['fleet'], labels: ['site:paris'] } }, 2);
  const paris = await client.take((told) => told.type === 'fleet' && told.data['all'] === true);
  t.strictSame(
    Object.keys(paris.data['hosts'] as object),
    ['b'],
    'another filter takes the place of the first',
  );
  const list = await client.ask('hosts', { data: { labels: ['site:berlin'], state: 'up' } });
  t.match(list, { type: 'hosts', data: { hosts: [{ id: 'a', state: 'up' }] } });
  client.say('unsubscribe', {}, 3);
  t.match(await client.take((told) => told.id === 3), { data: { topics: [] } });
  await until(() => a.streams === 0);
  for (const told of client.told) t.equal(flawOf(told), undefined);
});

t.test('[I.hub.ws-refused] messages that are not understood, and sockets that are not opened', async (t) => {
  const { hub } = await startTwo(t);
  const client = await HubClient.open(t, hub);
  const topics = { topics: ['stats'] };
  const many = Array.from({ length: 257 }, (_, i) => `h${i}`);
  for (const [op, frame, code] of [
    ['subscribe', { host: 'a/b', data: topics }, 'INVALID_DATA'],
    ['subscribe', { host: 'a', hosts: ['b'], data: topics }, 'INVALID_DATA'],
    ['subscribe', { hosts: [], data: topics }, 'INVALID_DATA'],
    ['subscribe', { hosts: many, data: topics }, 'INVALID_DATA'],
    ['subscribe', { data: topics }, 'INVALID_DATA'],
    ['subscribe', { data: { topics: ['fleet'], labels: ['x'] } }, 'INVALID_DATA'],
    ['subscribe', { data: { topics: ['fleet'], state: 'UP' } }, 'INVALID_DATA'],
    ['subscribe', { host: 'constructor', data: topics }, 'NOT_FOUND'],
    ['hosts', { host: 'a' }, 'UNKNOWN_OP'],
    ['dance', { host: 'a' }, 'UNKNOWN_OP'],
    ['dance', {}, 'UNKNOWN_OP'],
    ['power', { data: { action: 'sleep' } }, 'INVALID_DATA'],
    ['media', { hosts: ['a', 'b'], data: { action: 'play' } }, 'INVALID_DATA'],
    ['get', { host: 'a', data: { topics: ['events'] } }, 'INVALID_DATA'],
    ['get', { host: 'gone', data: topics }, 'HOST_UNREACHABLE'],
  ] as const) {
    const answer = await client.ask(op, frame);
    t.match(answer, { type: 'error', data: { code } }, JSON.stringify([op, frame]).slice(0, 120));
    t.equal(flawOf(answer), undefined);
  }
  const events = await client.ask('subscribe', { host: 'a', data: { topics: ['events', 'media', 'x'] } });
  t.strictSame(events.data, { topics: ['media', 'events'], unknown: ['x'] });
  t.equal((await client.ask('ping', {})).type, 'pong');
  t.equal((await client.ask('ping', { host: 'a' })).type, 'pong');
  const refused = async (path: string) => {
    const refusal = await SocketClient.refusal(hub.port, { path });
    t.ok(refusal instanceof Refused);
    return [refusal.status, (JSON.parse(refusal.body) as { readonly code: string }).code];
  };
  t.strictSame(await refused('/api/hosts/nobody/ws'), [404, 'not_found']);
  t.strictSame(await refused('/api/hosts//ws'), [404, 'not_found']);
  t.strictSame(await refused('/api/hosts/a/ws/b'), [404, 'not_found']);
  await hub.host('gone', isUnknown);
  await HubClient.open(t, hub, '/api/hosts/gone/ws');
});
