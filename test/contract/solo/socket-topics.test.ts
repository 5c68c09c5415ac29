/** What a socket subscribes to and asks, and what it is told: topics, snapshots, events, ids. */
import '../../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EventStream, payloadOf } from '../../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../../helpers/clients/http.ts';
import { SocketClient } from '../../helpers/clients/socket.ts';
import type { Told } from '../../helpers/clients/talk.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../../helpers/fakes/media.ts';
import { FakeProcessHost } from '../../helpers/fakes/processes.ts';
import { type ConfigPart, startHere } from '../../helpers/service/service.ts';

t.setTimeout(280_000);

const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'];
const ONE_SECOND: ConfigPart = { stats: { stream_interval_seconds: 1 } };

async function start(t: Test, config: ConfigPart = ONE_SECOND) {
  const media = new FakeMediaHost();
  const host = Object.assign(fixtureHost(), { media, processes: new FakeProcessHost() });
  const service = await startHere(host, config);
  t.teardown(() => service.stop());
  const connect = async () => {
    const client = await SocketClient.open(service.port);
    t.teardown(() => client.cut());
    return client;
  };
  return { service, host, media, connect, client: await connect() };
}

const sectionsOf = ({ data }: Told) => Object.keys(data).filter((key) => SECTIONS.includes(key));
const playing = (title: string) =>
  snapshotOf(playerOf('p', { playback: 'playing', title, positionSeconds: 1 }));

t.test('[7.frames] [7.connected] a greeting on open: version, protocol and features', async (t) => {
  const { client } = await start(t, { features: { enable_media: false } });
  const greeting = await client.take('connected');
  t.strictSame(Object.keys(greeting.data), ['version', 'protocol', 'features']);
  t.match(greeting.data, {
    version: '0.0.0-test',
    protocol: 1,
    features: { enable_media: false, enable_sleep: true },
  });
  t.equal(greeting.text, JSON.stringify({ type: 'connected', data: greeting.data }), 'one line of JSON');
});

t.test('[7.ping] [7.id] ping is answered with pong, and an id comes back as it was', async (t) => {
  const { client } = await start(t);
  for (const id of ['a', '', 'ä"\\', 0, -7, 2 ** 53 - 1]) {
    const pong = await client.ask('ping', {}, id);
    t.strictSame([pong.type, pong.id, pong.data], ['pong', id, {}]);
  }
  client.say('ping');
  t.notOk('id' in (await client.take('pong')), 'none without one');
});

t.test('[7.subscribe] [7.snapshot] subscribed, then a snapshot of each topic, all with the id', async (t) => {
  const { client, service } = await start(t);
  client.say('subscribe', { topics: ['stats', 'media', 'power', 'processes'] }, 'all');
  const subscribed = await client.take((told) => told.id === 'all');
  t.strictSame(subscribed.data, { topics: ['stats', 'media', 'processes', 'power'], unknown: [] });
  t.equal(subscribed.type, 'subscribed', 'it comes first');
  const snapshots = new Map<string, Told>();
  for (let i = 0; i < 4; i++) {
    const told = await client.take((each) => each.id === 'all');
    snapshots.set(told.type, told);
  }
  t.strictSame([...snapshots.keys()].sort(), [
    'media_update',
    'power_update',
    'process_list',
    'system_stats',
  ]);
  t.strictSame(snapshots.get('media_update')?.data, jsonOf(await ask(service.port, '/api/media/status')));
  t.strictSame(snapshots.get('power_update')?.data, jsonOf(await ask(service.port, '/api/pw')));
  t.strictSame(sectionsOf(snapshots.get('system_stats') ?? subscribed), SECTIONS);
});

t.test('[7.topics] stats, its sections by both names, and unknown names told', async (t) => {
  const { client } = await start(t);
  for (const [topics, now] of [
    [['stats'], ['stats']],
    [['stats.cpu'], ['stats.cpu']],
    [
      ['cpu', 'stats.cpu', 'network'],
      ['stats.cpu', 'stats.network'],
    ],
    [SECTIONS, ['stats']],
    [SECTIONS.map((name) => `stats.${name}`), ['stats']],
    [[], []],
  ] as const) {
    client.say('subscribe', { topics }, 1);
    t.strictSame((await client.take('subscribed')).data, { topics: now, unknown: [] });
    if (now.length > 0) {
      const sections = now[0] === 'stats' ? SECTIONS : now.map((name) => name.slice('stats.'.length));
      t.strictSame(sectionsOf(await client.take('system_stats')), sections);
    }
  }
  client.say('subscribe', { topics: ['CPU', 'stats.', 'toString', 'cpu', 'toString'] }, 2);
  t.strictSame((await client.take((told) => told.id === 2)).data, {
    topics: ['stats.cpu'],
    unknown: ['CPU', 'stats.', 'toString'],
  });
});

t.test(
  '[7.modes] replace by default; add adds; unsubscribe takes away, all of it without topics',
  async (t) => {
    const { client } = await start(t);
    const say = async (op: string, data?: object) => {
      client.say(op, data, 1);
      return (await client.take('subscribed')).data;
    };
    t.match(await say('subscribe', { topics: ['cpu', 'media'] }), { topics: ['stats.cpu', 'media'] });
    t.match(await say('subscribe', { topics: ['memory'], mode: 'add' }), {
      topics: ['stats.cpu', 'stats.memory', 'media'],
    });
    await client.take((told) => told.type === 'system_stats' && sectionsOf(told).length === 2);
    t.strictSame(await say('unsubscribe', { topics: ['cpu', 'nonsense'] }), {
      topics: ['stats.memory', 'media'],
      unknown: ['nonsense'],
    });
    await client.take((told) => told.type === 'system_stats' && sectionsOf(told).join() === 'memory');
    t.match(await say('subscribe', { topics: ['power'], mode: 'replace' }), { topics: ['power'] });
    t.strictSame(await say('unsubscribe'), { topics: [] });
    await client.settle();
    await sleep(1200);
    t.strictSame(
      (await client.settle()).map(({ type }) => type),
      [],
      'then nothing comes',
    );
  },
);

t.test(
  '[7.system-stats] one a tick, of the union of its topics, the very payload of the stream',
  async (t) => {
    const { client, service } = await start(t);
    const stream = await EventStream.open(service.port, '/api/stream?fields=cpu,gpu');
    t.teardown(() => stream.close());
    client.say('subscribe', { topics: ['cpu'] });
    client.say('subscribe', { topics: ['gpu'], mode: 'add' });
    for (let i = 0; i < 4; i++) await stream.next();
    await client.settle();
    const texts = client.told.filter(({ type }) => type === 'system_stats').slice(2);
    const times = texts.map(({ data }) => data['timestamp']);
    t.ok(texts.length >= 3 && texts.length <= 5, `${texts.length} ticks`);
    t.equal(new Set(times).size, times.length, 'no tick twice');
    const payload = payloadOf(await stream.next());
    const same = await client.take(
      ({ type, data }) => type === 'system_stats' && data['timestamp'] === Object(payload).timestamp,
    );
    t.equal(same.text, `{"type":"system_stats","data":${JSON.stringify(payload)}}`);
  },
);

t.test('[7.system-stats] detail adds the rest, to ticks and snapshots', async (t) => {
  const { client } = await start(t);
  client.say('subscribe', { topics: ['cpu'], detail: true });
  for (let i = 0; i < 2; i++)
    t.match((await client.take('system_stats')).data, {
      interval_seconds: 1,
      cpu: { cores: Array, load_average: Array },
    });
  client.say('subscribe', { topics: ['memory'], mode: 'add' });
  await client.take('subscribed');
  await client.take('subscribed');
  t.match(
    (await client.take((told) => sectionsOf(told).length === 2)).data,
    { host: String },
    'add keeps it',
  );
  client.say('subscribe', { topics: ['memory'] });
  await client.take('subscribed');
  t.notOk('host' in (await client.take((told) => sectionsOf(told).length === 1)).data, 'replace does not');
});

t.test('[7.demand] the machine is read only while somebody follows stats', async (t) => {
  const { client, host } = await start(t);
  await client.take('connected');
  await sleep(1200);
  t.equal(host.reads, 0, 'an open socket is no demand');
  client.say('subscribe', { topics: ['cpu'] });
  await client.take('system_stats');
  await client.take('system_stats');
  client.say('unsubscribe');
  await client.settle();
  const { reads } = host;
  t.ok(reads > 0);
  await sleep(1300);
  t.equal(host.reads, reads, 'after unsubscribe it rests');
  client.say('subscribe', { topics: ['cpu'] });
  await client.take('system_stats');
  client.cut();
  await sleep(50);
  const left = host.reads;
  await sleep(1300);
  t.equal(host.reads, left, 'after the last socket has gone too');
});

t.test('[7.get] one event a topic, each once, with the id', async (t) => {
  const { client } = await start(t);
  client.say('get', { topics: ['cpu', 'stats.memory', 'media', 'power', 'processes', 'cpu', 'nope'] }, 'g');
  const answers: Told[] = [];
  while (answers.length < 6) answers.push(await client.take((told) => told.id === 'g'));
  t.strictSame(
    answers.map(({ type }) => type),
    ['system_stats', 'system_stats', 'media_update', 'power_update', 'process_list', 'error'],
  );
  t.strictSame(answers.slice(0, 2).flatMap(sectionsOf), ['cpu', 'memory'], 'each topic by itself');
  t.match(answers[5]?.data, { code: 'INVALID_DATA', details: { topic: 'nope' } });
  t.match((await client.ask('get', { topics: ['cpu'], detail: true }, 'd')).data, { cpu: { cores: Array } });
  await client.settle();
  await sleep(1200);
  t.strictSame(await client.settle(), [], 'nothing is subscribed');
});

t.test('[7.media-update] pushed on change, to those who follow, once a change', async (t) => {
  const { client, media, connect } = await start(t);
  const detailed = await connect();
  const other = await connect();
  other.say('subscribe', { topics: ['power'] });
  client.say('subscribe', { topics: ['media'] });
  detailed.say('subscribe', { topics: ['media'], detail: true });
  for (const each of [client, detailed]) await each.take('media_update');
  const begun = performance.now();
  media.change(playing('one'));
  const told = await client.take('media_update');
  t.strictSame(told.data, { status: 'active', title: 'one', artist: '' });
  t.ok(told.atMs - begun < 500, 'at once');
  t.match((await detailed.take('media_update')).data, { title: 'one', position: 1, player: 'p' });
  media.change(playing('one'));
  media.change(snapshotOf(playerOf('p', { playback: 'playing', title: 'one', positionSeconds: 9 })));
  t.match((await detailed.take('media_update')).data, { position: 9 });
  media.change(playing('two'));
  t.match(
    (await client.take('media_update')).data,
    { title: 'two' },
    'what did not change for it was not told',
  );
  t.notOk(
    (await other.settle()).some(({ type }) => type === 'media_update'),
    'not to others',
  );
});

t.test('[7.power-update] pushed when what is pending or recorded changes', async (t) => {
  const { client, connect } = await start(t);
  client.say('subscribe', { topics: ['power'] });
  await client.take('power_update');
  const other = await connect();
  other.say('power', { action: 'sleep', delay: 500 });
  t.match((await client.take('power_update')).data, { pending: { action: 'sleep', at: Number } });
  other.say('power', { action: 'cancel' });
  t.match((await client.take('power_update')).data, { pending: null });
  other.say('power', { action: 'lock' });
  t.match((await client.take('power_update')).data, { recorded: [{ action: 'lock', at: Number }] });
});

t.test(
  '[7.processes-update] the list each interval, only while it is followed, well within 64 KiB',
  async (t) => {
    const { client, connect, host } = await start(t);
    let lists = 0;
    host.processes.onRead = () => {
      lists++;
      host.processes.seconds++;
    };
    const second = await connect();
    for (const each of [client, second]) each.say('subscribe', { topics: ['processes'] });
    for (let i = 0; i < 3; i++) {
      const { data, text } = await client.take('process_list');
      t.strictSame(Object.keys(data), ['timestamp', 'total_count', 'processes']);
      t.ok(text.length < 64 * 1024);
      await second.take('process_list');
    }
    t.ok(lists >= 2 && lists <= 8, `${lists} readings for two who follow`);
    for (const each of [client, second]) each.say('unsubscribe');
    await client.settle();
    const before = lists;
    await sleep(1500);
    t.equal(lists, before, 'then nobody reads');
  },
);

t.test(
  '[7.feature-topics] a topic whose feature is off stays subscribed, and is told when it is on',
  async (t) => {
    const { client, service } = await start(t, {
      features: { enable_media: false, enable_processes: false },
    });
    client.say('subscribe', { topics: ['media', 'processes'] }, 1);
    t.match((await client.take('subscribed')).data, { topics: ['media', 'processes'] });
    for (const topic of ['media', 'processes'])
      t.match(await client.take('error'), { id: 1, data: { code: 'FEATURE_DISABLED', details: { topic } } });
    service.reconfigure({ features: { enable_media: true } });
    t.match((await client.take('media_update')).data, { status: 'stopped' });
  },
);

t.test('[7.updates-fail] what can not be told is feedback with a code, and the socket goes on', async (t) => {
  const service = await startHere(fixtureHost(), ONE_SECOND);
  t.teardown(() => service.stop());
  const client = await SocketClient.open(service.port);
  t.teardown(() => client.cut());
  const failure = { success: false, action: 'list', code: 'NOT_SUPPORTED', final: true };
  client.say('subscribe', { topics: ['processes'] }, 1);
  t.equal((await client.take((told) => told.id === 1)).type, 'subscribed');
  t.match(await client.take((told) => told.id === 1), { type: 'process_feedback', data: failure });
  t.match(await client.ask('get', { topics: ['processes'] }, 2), { type: 'process_feedback', data: failure });
  t.match(await client.ask('process_list', {}, 3), { type: 'process_feedback', data: failure });
  await sleep(2500);
  t.equal((await client.ask('ping', undefined, 4)).type, 'pong');
  t.equal(service.stderr().split('a topic cannot be read').length, 2, 'the log says it once');
});

t.test('[7.broken] when the machine can not be read at all: 1011, and the log says why', async (t) => {
  const { client, service, host, connect } = await start(t);
  host.readCounters = () => {
    throw new Error('no counters here');
  };
  const other = await connect();
  client.say('subscribe', { topics: ['cpu'] });
  t.match(await client.closed, { code: 1011, reason: /its log says why/ });
  t.match(service.stderr(), /no counters here/);
  t.equal((await other.ask('ping', undefined, 1)).type, 'pong', 'the others go on');
});
