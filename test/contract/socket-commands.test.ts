/** Commands over /api/ws on a machine of literals: feedback in stages or in one message, its recipients, and errors. */
import '../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import type { Told } from '../helpers/clients/talk.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { FakeMediaHost, playerOf, snapshotOf } from '../helpers/fakes/media.ts';
import { EVERYTHING_ON } from '../helpers/fakes/power.ts';
import { FakeProcessHost } from '../helpers/fakes/processes.ts';
import { type ConfigPart, serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const FEATURES = { ...EVERYTHING_ON, enable_process_control: true };

async function start(t: Test, config: ConfigPart = {}, clock?: FakeClock) {
  const media = new FakeMediaHost();
  media.snapshot = snapshotOf(playerOf('p', { playback: 'playing', title: 'x' }));
  const host = Object.assign(fixtureHost(), { media, processes: new FakeProcessHost() });
  const service = await serveHere(
    t,
    host,
    { features: FEATURES, ...config },
    clock === undefined ? {} : { clock },
  );
  const connect = async (...topics: readonly string[]) => {
    const client = await SocketClient.openIn(t, service.port);
    if (topics.length > 0) {
      client.say('subscribe', { topics });
      await client.take('subscribed');
      for (const _topic of topics) await client.take((told) => /_update$|_list$/.test(told.type));
    }
    return client;
  };
  return { service, host, media, connect, client: await connect() };
}

const stagesOf = (answers: readonly Told[]) => answers.map(({ data }) => data['stage']);
const feedbackIn = (all: readonly Told[]) => all.filter(({ type }) => type.endsWith('_feedback'));

t.test('[7.feedback-one] without an id exactly one message, and it is final', async (t) => {
  const { client, service } = await start(t);
  client.say('media', { action: 'play' });
  t.strictSame((await client.take('media_feedback')).data, {
    success: true,
    action: 'play',
    message: 'Done',
    final: true,
  });
  client.say('process_kill', { pid: 1 });
  t.match((await client.take('process_feedback')).data, {
    success: false,
    action: 'kill',
    final: true,
    code: 'PROTECTED',
  });
  client.say('power', { action: 'sleep' });
  t.strictSame((await client.take('power_feedback')).data, {
    success: true,
    action: 'sleep',
    message: 'Command initiated',
    final: true,
  });
  await sleep(400);
  t.match(jsonOf(await ask(service.port, '/api/pw')), { recorded: [{ action: 'sleep' }] });
  t.strictSame(feedbackIn(await client.settle()), [], 'and no other');
});

t.test('[7.feedback-stages] [7.id] with an id: accepted, running, then how it ended', async (t) => {
  const { client, media } = await start(t);
  media.isSlow = true;
  client.say('media', { action: 'pause' }, 'm');
  t.match((await client.take('media_feedback')).data, { stage: 'accepted', success: true, final: false });
  t.match((await client.take('media_feedback')).data, { stage: 'running', success: true, final: false });
  await client.settle();
  media.finish();
  const done = await client.take('media_feedback');
  t.strictSame(done.id, 'm');
  t.strictSame(done.data, { success: true, action: 'pause', message: 'Done', final: true, stage: 'done' });
  media.isSlow = false;
  const kill = await client.askToEnd('process_kill', { pid: 200 }, 7);
  t.strictSame(stagesOf(kill), ['accepted', 'running', 'done']);
  t.match(kill[2]?.data, { success: true, final: true, pid: 200, name: 'editor', count: 1 });
  const failed = await client.askToEnd('process_kill', { name: 'nobody' }, 8);
  t.strictSame(stagesOf(failed), ['accepted', 'running', 'failed']);
  t.match(failed[2]?.data, { success: false, final: true, code: 'NOT_FOUND' });
  const power = await client.askToEnd('power', { action: 'restart' }, 'p');
  t.strictSame(stagesOf(power), ['accepted', 'running', 'done']);
  for (const { data } of [...kill, ...failed, ...power]) t.type(data['final'], 'boolean');
});

t.test('[7.power-first] the answer has left 100 ms before the act', async (t) => {
  const clock = new FakeClock();
  const { client, service } = await start(t, {}, clock);
  const recorded = async () => {
    const { recorded } = jsonOf(await ask(service.port, '/api/pw')) as {
      readonly recorded: readonly unknown[];
    };
    return recorded.length;
  };
  for (const [done, id] of [undefined, 'with'].entries()) {
    client.say('power', { action: 'lock' }, id);
    const { data } = await client.take('power_feedback');
    t.match(data, { success: true, final: id === undefined });
    t.equal(data['message'], 'Command initiated');
    await clock.advance(99);
    t.equal(await recorded(), done, 'it is not done within 100 ms');
    await until(async () => {
      await clock.advance(1);
      return (await recorded()) > done;
    });
  }
});

t.test('[7.power-scheduled] the end of a scheduled action is sent to its client, with the id', async (t) => {
  const { client } = await start(t);
  const accepted = await client.ask('power', { action: 'sleep', delay: 0.3 }, 's');
  t.match(accepted.data, { stage: 'accepted', final: false });
  t.match((await client.ask('power', { action: 'lock', delay: 5 }, 'no')).data, {
    success: false,
    stage: 'failed',
    code: 'CONFLICT',
    final: true,
  });
  t.match((await client.take((told) => told.id === 's')).data, { stage: 'running', final: false });
  t.match((await client.take((told) => told.id === 's')).data, { stage: 'done', success: true, final: true });
  await client.ask('power', { action: 'sleep', delay: 50 }, 'c');
  client.say('power', { action: 'cancel' }, 'x');
  t.match((await client.take((told) => told.id === 'c')).data, {
    stage: 'cancelled',
    success: false,
    final: true,
  });
  t.match((await client.take((told) => told.id === 'x')).data, {
    action: 'cancel',
    message: 'Cancelled sleep',
    stage: 'done',
    success: true,
  });
  await client.ask('power', { action: 'sleep', delay: 50 }, 'gone');
  client.cut();
});

t.test(
  '[7.feedback-others] the other subscribers of the topic are notified once, without id and stage',
  async (t) => {
    const { client, connect } = await start(t);
    const follower = await connect('media', 'processes', 'power');
    const stranger = await connect('media');
    const asks = [
      ['media', { action: 'next' }, 'media_feedback'],
      ['process_kill', { pid: 200 }, 'process_feedback'],
      ['process_kill', { pid: 1 }, 'process_feedback'],
      ['power', { action: 'lock' }, 'power_feedback'],
      ['power', { action: 'cancel' }, 'power_feedback'],
    ] as const;
    for (const [i, [op, data, type]] of asks.entries()) {
      const answers = await client.askToEnd(op, data, i);
      const { stage: _stage, ...last } = answers.at(-1)?.data ?? {};
      const heard = await follower.take(type);
      t.strictSame(heard.data, last, `${op}: the same words`);
      t.notOk('id' in heard);
    }
    await client.askToEnd('media', { action: 'prev' }, 'own');
    t.strictSame(feedbackIn(await client.settle()), [], 'who asked hears nothing twice');
    await sleep(100);
    t.equal(feedbackIn(await follower.settle()).length, 1, 'the last one, and no other');
    t.ok(
      feedbackIn(await stranger.settle()).every(({ type }) => type === 'media_feedback'),
      'only its topic',
    );
  },
);

t.test('[7.feedback-others] a client that asks and subscribes gets only its own answer', async (t) => {
  const { connect } = await start(t);
  const both = await connect('power', 'media');
  t.strictSame(stagesOf(await both.askToEnd('power', { action: 'lock' }, 1)), [
    'accepted',
    'running',
    'done',
  ]);
  t.strictSame(stagesOf(await both.askToEnd('media', { action: 'play' }, 2)), [
    'accepted',
    'running',
    'done',
  ]);
  both.say('power', { action: 'sleep' });
  await both.take('power_feedback');
  await sleep(400);
  t.strictSame(feedbackIn(await both.settle()), []);
});

t.test('[7.feedback-http] commands that come over HTTP are reported too', async (t) => {
  const { service, connect } = await start(t);
  const follower = await connect('media', 'processes', 'power');
  const post = (path: string, body: object) =>
    ask(service.port, path, { method: 'POST', body: JSON.stringify(body) });
  await post('/api/media/control', { action: 'play' });
  t.match((await follower.take('media_feedback')).data, { success: true, action: 'play', final: true });
  await post('/api/processes/kill', { pid: 1 });
  t.match((await follower.take('process_feedback')).data, {
    success: false,
    action: 'kill',
    code: 'PROTECTED',
  });
  await post('/api/pw/lock', {});
  t.match((await follower.take('power_feedback')).data, {
    success: true,
    action: 'lock',
    message: 'Done',
    final: true,
  });
  await post('/api/media/control', { action: 'nonsense' });
  await post('/api/processes/kill', { pid: 0 });
  await sleep(50);
  t.strictSame(feedbackIn(await follower.settle()), [], 'what was not understood is no feedback');
});

t.test('[7.codes] [7.media-honest] a media command that no player took says so', async (t) => {
  const { client, media } = await start(t);
  media.snapshot = snapshotOf();
  client.say('media', { action: 'play' });
  t.strictSame((await client.take('media_feedback')).data, {
    success: false,
    action: 'play',
    message: 'The action play is not possible now: no player found.',
    final: true,
    code: 'CONFLICT',
  });
  media.snapshot = { ...snapshotOf(), absence: 'there is no bus' };
  client.say('media', { action: 'seek', value: 3 });
  t.match((await client.take('media_feedback')).data, { success: false, code: 'NOT_SUPPORTED' });
  media.keys = null;
  client.say('media', { action: 'play' });
  t.match((await client.take('media_feedback')).data, {
    success: true,
    message: /media key; delivery cannot be confirmed/,
  });
  media.snapshot = snapshotOf(playerOf('p'));
  media.reply = { outcome: 'failed', reason: 'no' };
  client.say('media', { action: 'stop' });
  t.match((await client.take('media_feedback')).data, { success: false, code: 'INTERNAL', message: /p: no/ });
});

t.test('[7.error-feature] each op whose flag is off: FEATURE_DISABLED, and nothing is done', async (t) => {
  const off = Object.fromEntries(Object.keys(FEATURES).map((name) => [name, false]));
  const { client, media, host, service } = await start(t, { features: off });
  const ops = [
    ['media', { action: 'play' }],
    ['process_list', {}],
    ['process_details', { pid: 200 }],
    ['process_kill', { pid: 200 }],
    ['process_launch', { app: 'x' }],
    ...['shutdown', 'restart', 'sleep', 'hibernate', 'lock'].map((action) => ['power', { action }] as const),
  ] as const;
  for (const [i, [op, data]] of ops.entries())
    t.match(await client.ask(op, data, i), { type: 'error', id: i, data: { code: 'FEATURE_DISABLED' } }, op);
  t.equal(
    (await client.ask('power', { action: 'cancel' }, 'c')).type,
    'power_feedback',
    'cancel has no flag',
  );
  await sleep(300);
  t.strictSame([media.controls.length, host.processes.sent.length], [0, 0]);
  t.match(jsonOf(await ask(service.port, '/api/pw')), { recorded: [] });
  service.reconfigure({ features: FEATURES });
  t.equal(
    (await client.askToEnd('media', { action: 'play' }, 'on')).at(-1)?.data['success'],
    true,
    'after a reload',
  );
});

t.test('[7.error-forbidden] arguments for an app that allows none: FORBIDDEN', async (t) => {
  const entry = { command: '/bin/true', args: [], env: {}, allow_args: false };
  const { client, host } = await start(t, { processes: { launch: { app: entry } } });
  client.say('process_launch', { app: 'app', args: ['x'] });
  t.match((await client.take('error')).data, { code: 'FORBIDDEN', message: /arguments/ });
  t.equal(host.processes.launched.length, 0);
  client.say('process_launch', { path: '/bin/true' });
  t.match((await client.take('error')).data, { code: 'INVALID_DATA', message: /processes\.launch/ });
  client.say('process_launch', { app: 'constructor' });
  t.match((await client.take('process_feedback')).data, {
    success: false,
    action: 'launch',
    code: 'NOT_FOUND',
  });
  client.say('process_launch', { app: 'app' });
  t.match((await client.take('process_feedback')).data, {
    success: true,
    action: 'launch',
    name: 'app',
    pid: Number,
  });
});

t.test('[7.process-ops] lists over the socket, grouped and one by one, and details of nobody', async (t) => {
  const { client } = await start(t);
  const list = await client.ask('process_list', { limit: 2, sort: 'name' }, 1);
  t.equal(list.type, 'process_list');
  t.strictSame(Object.keys(list.data), ['timestamp', 'total_count', 'processes']);
  t.match(list.data, { total_count: 13, processes: [{ name: '(sd-pam)' }, { name: 'editor' }] });
  const flat = await client.ask('process_list', { grouped: false, query: '200' }, 2);
  t.match(flat.data, { processes: [{ pid: 200, name: 'editor', path: null }] });
  client.say('process_details', { name: 'nobody' }, 'd');
  t.match(await client.take('process_feedback'), {
    id: 'd',
    data: { action: 'details', code: 'NOT_FOUND', final: true },
  });
});
