/** Sockets that read slowly: they lose samples and never an answer, and are closed when answers exceed the buffer. */
import '../../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { SocketClient } from '../../helpers/clients/socket.ts';
import { serveSockets } from '../../helpers/service/socket-server.ts';

t.setTimeout(280_000);

const isStats = ({ type }: { readonly type: string }) => type === 'system_stats';

for (const sampleBytes of [8 * 1024, 40 * 1024])
  t.test(`[7.limit-slow-stats] [7.limit-slow-feedback] samples of ${sampleBytes} bytes`, async (t) => {
    const rig = await serveSockets(t, { sampleBytes });
    const quick = await SocketClient.open(rig.port);
    const slow = await SocketClient.open(rig.port);
    t.teardown(() => [quick, slow].forEach((client) => client.cut()));
    for (const client of [quick, slow]) {
      client.say('subscribe', { topics: ['stats'], detail: true });
      await client.take(isStats);
    }
    slow.ws.pause();
    const rounds = Math.ceil((24 * 1024 ** 2) / sampleBytes);
    let last = 0;
    for (let i = 0; i < rounds; i++) {
      last = rig.publish();
      await quick.take(({ data }) => data['timestamp'] === last);
      if (i % (rounds / 8) < 1)
        for (let n = 0; n < 2; n++) slow.say('media', { action: 'stop' }, `${i} ${n}`);
    }
    await sleep(50);
    t.notOk(slow.isClosed, 'it is not closed for being slow');
    slow.ws.resume();
    await slow.settle();
    const missed = rounds + 1 - slow.told.filter(isStats).length;
    t.ok(missed > 0, `${missed} of ${rounds} samples were lost`);
    const times = slow.told.filter(isStats).map(({ data }) => Number(data['timestamp']));
    t.strictSame(
      times,
      times.toSorted((a, b) => a - b),
      'the others came in order',
    );
    const answers = slow.told.filter(({ type }) => type === 'media_feedback');
    const finals = answers.filter(({ data }) => data['final'] === true);
    t.ok(finals.length >= 16, `${finals.length} answers`);
    t.equal(answers.length, 3 * finals.length, 'each with all its stages');
    last = rig.publish();
    for (const client of [slow, quick]) await client.take(({ data }) => data['timestamp'] === last);
    t.equal(quick.told.filter(isStats).length, rounds + 2, 'the quick one missed nothing');
  });

t.test('[7.limit-slow-feedback] answers beyond the buffer: 1008, after the buffered ones', async (t) => {
  const rig = await serveSockets(t, { sampleBytes: 40 * 1024, run: async () => 'y'.repeat(12 * 1024) });
  const slow = await SocketClient.open(rig.port);
  t.teardown(() => slow.cut());
  slow.say('subscribe', { topics: ['stats'], detail: true });
  await slow.take(isStats);
  slow.ws.pause();
  for (let i = 0; i < 600; i++) {
    rig.publish();
    await new Promise(setImmediate);
  }
  for (let i = 0; i < 10; i++) slow.say('media', { action: 'stop' }, i);
  for (let i = 0; i < 100 && rig.sockets.size > 0; i++) await sleep(20);
  t.equal(rig.sockets.size, 0, 'it is given up');
  slow.ws.resume();
  t.match(await slow.closed, { code: 1008, reason: 'too slow for its answers' });
  const finals = slow.told.filter(({ data }) => data['final'] === true).map(({ id }) => id);
  t.ok(finals.length > 0 && finals.length < 10, `${finals.length} of 10 were kept`);
  t.strictSame(finals, [...finals.keys()], 'the first ones');
});

t.test('[7.limit-slow-feedback] a socket that never reads again is cut soon after', async (t) => {
  const rig = await serveSockets(t, { sampleBytes: 40 * 1024, run: async () => 'y'.repeat(12 * 1024) });
  const dead = await SocketClient.open(rig.port);
  t.teardown(() => dead.cut());
  dead.say('subscribe', { topics: ['stats'], detail: true });
  await dead.take(isStats);
  dead.ws.pause();
  for (let i = 0; i < 600; i++) {
    rig.publish();
    await new Promise(setImmediate);
  }
  const { connections } = rig.server;
  for (let i = 0; i < 10; i++) dead.say('media', { action: 'stop' }, i);
  for (let i = 0; i < 400 && rig.server.connections === connections; i++) await sleep(20);
  t.equal(rig.server.connections, connections - 1);
});

t.test('[7.updates-newest] a state that had no room is sent once there is room, the newest', async (t) => {
  const rig = await serveSockets(t, { sampleBytes: 40 * 1024 });
  const slow = await SocketClient.open(rig.port);
  t.teardown(() => slow.cut());
  slow.say('subscribe', { topics: ['stats', 'media'], detail: true });
  await slow.take(isStats);
  slow.ws.pause();
  for (let i = 0; i < 600; i++) {
    rig.publish();
    await new Promise(setImmediate);
  }
  for (const title of ['one', 'two', 'three']) {
    rig.setTitle(title);
    await sleep(10);
  }
  slow.ws.resume();
  const told = await slow.take(({ type, data }) => type === 'media_update' && data['title'] !== '');
  t.equal(told.data['title'], 'three');
});
