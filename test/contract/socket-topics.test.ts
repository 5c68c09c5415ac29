/** Subscriptions and requests of a socket: topics, snapshots, events, ids. The service runs on the test's clock. */
import '../helpers/service/dead-buses.ts';
import t, { type Test } from 'tap';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { Told } from '../helpers/clients/talk.ts';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { FakeProcessHost } from '../helpers/fakes/processes.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';

const SECTIONS = ['cpu', 'memory', 'gpu', 'disks', 'network'];
const ONE_SECOND: ConfigPart = { stats: { stream_interval_seconds: 1 } };
/** The window of a first load. */
const FIRST_WINDOW_MS = 200;

async function start(t: Test, config: ConfigPart = ONE_SECOND) {
  const media = new FakeMediaHost();
  const host = Object.assign(fixtureHost(), { media, processes: new FakeProcessHost() });
  const clock = new FakeClock();
  const { readCounters } = host;
  host.readCounters = (...asked) => ({ ...readCounters(...asked), unixMs: 1e12 + clock.now() });
  const service = await serveHere(t, host, config, { clock });
  const connect = () => SocketClient.openIn(t, service.port);
  const client = await connect();
  let passes = 0;
  /** Lets `ms` pass once the service has read every message sent before. */
  const pass = async (ms: number, sayer = client) => {
    await sayer.ask('ping', undefined, `pass ${++passes}`);
    await clock.advance(ms);
  };
  return { service, clock, host, media, connect, client, pass };
}

const sectionsOf = ({ data }: Told) => Object.keys(data).filter((key) => SECTIONS.includes(key));
const playing = (title: string) =>
  snapshotOf(playerOf('p', { playback: 'playing', title, positionSeconds: 1 }));

t.test(
  '[7.frames] [7.connected] a greeting on open: version, protocol, features and a sentence',
  async (t) => {
    const { client } = await start(t, { features: { enable_media: false } });
    const greeting = await client.take('connected');
    t.strictSame(Object.keys(greeting.data), [
      'version',
      'protocol',
      'run',
      'clock',
      'machine',
      'features',
      'message',
    ]);
    t.match(greeting.data, {
      version: '0.0.0-test',
      protocol: 2,
      message: 'Connected to hostwire 0.0.0-test.',
      features: { enable_media: false, enable_sleep: true },
    });
    t.equal(greeting.text, JSON.stringify({ type: 'connected', data: greeting.data }), 'one line of JSON');
  },
);

t.test('[7.ping] [7.id] ping is answered with pong, and an id comes back as it was', async (t) => {
  const { client } = await start(t);
  for (const id of ['a', '', 'ä"\\', 0, -7, 2 ** 53 - 1]) {
    const pong = await client.ask('ping', {}, id);
    t.strictSame([pong.type, pong.id, Object.keys(pong.data)], ['pong', id, ['clock']]);
  }
  client.say('ping');
  t.notOk('id' in (await client.take('pong')), 'none without one');
});

t.test('[7.subscribe] [7.snapshot] subscribed, then a snapshot of each topic, all with the id', async (t) => {
  const { client, service, pass } = await start(t);
  client.say('subscribe', { topics: ['stats', 'media', 'power', 'processes'] }, 'all');
  await pass(FIRST_WINDOW_MS);
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

t.test('[7.topics] stats, its sections by both names, and unknown names reported', async (t) => {
  const { client, pass } = await start(t);
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
    await pass(FIRST_WINDOW_MS);
    t.strictSame((await client.take('subscribed')).data, { topics: now, unknown: [] });
    if (now.length > 0) {
      const sections = now[0] === 'stats' ? SECTIONS : now.map((name) => name.slice('stats.'.length));
      t.strictSame(sectionsOf(await client.take('system_stats')), sections);
    }
  }
  client.say('subscribe', { topics: ['CPU!', 'stats.', 'toString', 'cpu', 'toString'] }, 2);
  t.strictSame((await client.take((told) => told.id === 2)).data, {
    topics: ['stats.cpu'],
    unknown: ['CPU!', 'stats.', 'toString'],
  });
});

t.test('[7.topics] in any case, and by the names that other services have', async (t) => {
  const { client } = await start(t);
  for (const [topics, now] of [
    [['NET'], ['stats.network']],
    [
      ['Stats.CPU', 'CPU', 'STATS.NETWORK', 'net'],
      ['stats.cpu', 'stats.network'],
    ],
    [
      ['Process', 'Stats.Media', 'POWER'],
      ['media', 'processes', 'power'],
    ],
  ] as const) {
    client.say('subscribe', { topics }, 1);
    t.strictSame((await client.take('subscribed')).data, { topics: now, unknown: [] });
  }
});

t.test(
  '[7.modes] replace by default; add adds; unsubscribe removes, everything if it names no topics',
  async (t) => {
    const { client, pass } = await start(t);
    const say = async (op: string, data?: object) => {
      client.say(op, data, 1);
      await pass(FIRST_WINDOW_MS);
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
    await pass(2500);
    t.strictSame(
      (await client.settle()).map(({ type }) => type),
      [],
      'then nothing comes',
    );
  },
);

t.test(
  '[7.system-stats] one per tick, with the union of its topics, the same payload as the stream',
  async (t) => {
    const { client, service, pass } = await start(t);
    client.say('subscribe', { topics: ['cpu'] });
    client.say('subscribe', { topics: ['gpu'], mode: 'add' });
    // The second one comes while the reading for the first is pending, and has the next one.
    for (let reading = 0; reading < 2; reading++) await pass(FIRST_WINDOW_MS);
    const stream = await EventStream.openIn(t, service.port, '/api/stream?fields=cpu,gpu');
    await stream.next();
    await client.settle();
    for (let tick = 1; tick <= 4; tick++) {
      await pass(1000);
      const payload = payloadOf(await stream.next());
      const { text } = await client.take('system_stats');
      t.equal(text, `{"type":"system_stats","data":${JSON.stringify(payload)}}`);
      t.strictSame(await client.settle(), [], `tick ${tick} comes once`);
    }
  },
);

t.test('[7.system-stats] detail adds the rest, to ticks and snapshots', async (t) => {
  const { client, pass } = await start(t);
  client.say('subscribe', { topics: ['cpu'], detail: true });
  for (const ms of [FIRST_WINDOW_MS, 1000]) {
    await pass(ms);
    t.match((await client.take('system_stats')).data, {
      interval_seconds: 1,
      cpu: { cores: Array, load_average: Array },
    });
  }
  client.say('subscribe', { topics: ['memory'], mode: 'add' });
  await pass(FIRST_WINDOW_MS);
  await client.take('subscribed');
  await client.take('subscribed');
  t.match(
    (await client.take((told) => sectionsOf(told).length === 2)).data,
    { host: String },
    'add keeps it',
  );
  client.say('subscribe', { topics: ['memory'] });
  await pass(FIRST_WINDOW_MS);
  await client.take('subscribed');
  t.notOk('host' in (await client.take((told) => sectionsOf(told).length === 1)).data, 'replace does not');
});

t.test('[7.demand] the machine is read only while a client subscribes to stats', async (t) => {
  const { client, clock, host, pass } = await start(t);
  await client.take('connected');
  await pass(5000);
  t.equal(host.reads, 0, 'an open socket is no demand');
  client.say('subscribe', { topics: ['cpu'] });
  for (const ms of [FIRST_WINDOW_MS, 1000]) {
    await pass(ms);
    await client.take('system_stats');
  }
  client.say('unsubscribe');
  await client.settle();
  const { reads } = host;
  t.ok(reads > 0);
  await pass(5000);
  t.equal(host.reads, reads, 'after unsubscribe it rests');
  client.say('subscribe', { topics: ['cpu'] });
  await pass(FIRST_WINDOW_MS);
  await client.take('system_stats');
  t.equal(clock.timers, 1, 'the next tick');
  client.cut();
  while (clock.timers > 0) await settle();
  const left = host.reads;
  await clock.advance(5000);
  t.equal(host.reads, left, 'after the last socket has gone too');
});

t.test('[7.get] one event per topic, each once, with the id', async (t) => {
  const { client, pass } = await start(t);
  client.say('get', { topics: ['cpu', 'stats.memory', 'media', 'power', 'processes', 'cpu', 'nope'] }, 'g');
  // Two readings of stats and one of processes.
  await pass(3 * FIRST_WINDOW_MS);
  const answers: Told[] = [];
  while (answers.length < 6) answers.push(await client.take((told) => told.id === 'g'));
  t.strictSame(
    answers.map(({ type }) => type),
    ['system_stats', 'system_stats', 'media_update', 'power_update', 'process_list', 'error'],
  );
  t.strictSame(answers.slice(0, 2).flatMap(sectionsOf), ['cpu', 'memory'], 'each topic by itself');
  t.match(answers[5]?.data, { code: 'INVALID_DATA', details: { topic: 'nope' } });
  client.say('get', { topics: ['cpu'], detail: true }, 'd');
  await pass(FIRST_WINDOW_MS);
  t.match((await client.take((told) => told.id === 'd')).data, { cpu: { cores: Array } });
  await client.settle();
  await pass(5000);
  t.strictSame(await client.settle(), [], 'nothing is subscribed');
});

t.test(
  '[7.media-pause] pausing and playing on are changes, also where the payload stays the same',
  async (t) => {
    const { client, media } = await start(t);
    media.change(playing('one'));
    client.say('subscribe', { topics: ['media'] });
    const { data } = await client.take('media_update');
    for (const playback of ['paused', 'playing'] as const) {
      media.change(snapshotOf(playerOf('p', { playback, title: 'one' })));
      t.strictSame((await client.take('media_update')).data, data);
    }
    media.change(snapshotOf(playerOf('p', { playback: 'playing', title: 'one', volume: 0.5 })));
    const later = await client.settle();
    t.notOk(
      later.some(({ type }) => type === 'media_update'),
      'a volume is none',
    );
  },
);

t.test('[7.media-update] pushed to subscribers, once per change', async (t) => {
  const { client, media, connect } = await start(t);
  const detailed = await connect();
  const other = await connect();
  other.say('subscribe', { topics: ['power'] });
  client.say('subscribe', { topics: ['media'] });
  detailed.say('subscribe', { topics: ['media'], detail: true });
  for (const each of [client, detailed]) await each.take('media_update');
  // Immediately: no time passes.
  media.change(playing('one'));
  t.strictSame((await client.take('media_update')).data, { status: 'active', title: 'one', artist: '' });
  t.match((await detailed.take('media_update')).data, {
    title: 'one',
    position: 1,
    player: 'p',
    volume: null,
    muted: null,
  });
  media.change(playing('one'));
  media.change(
    snapshotOf(playerOf('p', { playback: 'playing', title: 'one', positionSeconds: 9, volume: 0 })),
  );
  t.match((await detailed.take('media_update')).data, { position: 9, volume: 0, muted: true });
  media.change(playing('two'));
  t.match(
    (await client.take('media_update')).data,
    { title: 'two' },
    'a change outside its view was not sent',
  );
  t.notOk(
    (await other.settle()).some(({ type }) => type === 'media_update'),
    'not to others',
  );
});

t.test('[7.power-update] pushed when the pending or recorded actions change', async (t) => {
  const { client, connect, pass } = await start(t);
  client.say('subscribe', { topics: ['power'] });
  await client.take('power_update');
  const other = await connect();
  other.say('power', { action: 'sleep', delay: 500 });
  t.match((await client.take('power_update')).data, { pending: { action: 'sleep', at: Number } });
  other.say('power', { action: 'cancel' });
  t.match((await client.take('power_update')).data, { pending: null });
  other.say('power', { action: 'lock' });
  await pass(500, other);
  t.match((await client.take('power_update')).data, { recorded: [{ action: 'lock', at: Number }] });
});

t.test(
  '[7.processes-update] the list at each interval, only while a client subscribes, well within 64 KiB',
  async (t) => {
    const { client, connect, host, pass } = await start(t);
    let lists = 0;
    host.processes.onRead = () => {
      lists++;
      host.processes.seconds++;
    };
    const second = await connect();
    for (const each of [client, second]) each.say('subscribe', { topics: ['processes'] });
    await second.settle();
    // The first list takes two readings, and that of each second one.
    for (const ms of [FIRST_WINDOW_MS, 2000, 1000]) {
      await pass(ms);
      const { data, text } = await client.take('process_list');
      t.strictSame(Object.keys(data), ['timestamp', 'total_count', 'processes']);
      t.ok(text.length < 64 * 1024);
    }
    t.equal(lists, 5, 'readings for two who follow');
    for (const each of [client, second]) each.say('unsubscribe');
    await second.settle();
    t.equal(second.told.filter(({ type }) => type === 'process_list').length, 4);
    await pass(5000);
    t.equal(lists, 5, 'then nobody reads');
  },
);

t.test(
  '[7.feature-topics] a topic whose feature is off stays subscribed, and is sent once it is on',
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

t.test(
  '[7.updates-fail] an update that fails is feedback with a code, and the socket stays open',
  async (t) => {
    const clock = new FakeClock();
    const service = await serveHere(t, fixtureHost(), ONE_SECOND, { clock });
    const client = await SocketClient.openIn(t, service.port);
    const failure = { success: false, action: 'list', code: 'NOT_SUPPORTED', final: true };
    client.say('subscribe', { topics: ['processes'] }, 1);
    t.equal((await client.take((told) => told.id === 1)).type, 'subscribed');
    t.match(await client.take((told) => told.id === 1), { type: 'process_feedback', data: failure });
    t.match(await client.ask('get', { topics: ['processes'] }, 2), {
      type: 'process_feedback',
      data: failure,
    });
    t.match(await client.ask('process_list', {}, 3), { type: 'process_feedback', data: failure });
    await clock.advance(2500);
    t.equal((await client.ask('ping', undefined, 4)).type, 'pong');
    t.equal(service.stderr().split('a topic cannot be read').length, 2, 'the log says it once');
  },
);

t.test('[7.broken] when the machine cannot be read at all: 1011, and the log says why', async (t) => {
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
