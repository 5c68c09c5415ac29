/** Sockets that read slowly: they lose samples and never an answer, and are closed when answers exceed the buffer. */
import '../../helpers/service/dead-buses.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SocketClient } from '../../helpers/clients/socket.ts';
import { serveSockets } from '../../helpers/service/socket-server.ts';
import { until } from '../../helpers/until.ts';

t.setTimeout(280_000);

type Rig = Awaited<ReturnType<typeof serveSockets>>;

/** Opens sockets that have had a sample of their subscription. */
async function openAll(t: Test, { port }: Rig, count: number, topics: readonly string[] = ['stats']) {
  const clients = await Promise.all(Array.from({ length: count }, () => SocketClient.openIn(t, port)));
  for (const client of clients) {
    client.say('subscribe', { topics, detail: true });
    await client.take(isStats);
  }
  return clients as [SocketClient, SocketClient]; // As many as `count`, at most two.
}

/** A socket that reads no more, with samples until both ends are full. */
async function openFull(t: Test, rig: Rig, topics?: readonly string[]): Promise<SocketClient> {
  const [client] = await openAll(t, rig, 1, topics);
  client.ws.pause();
  for (let i = 0; i < 600; i++) {
    rig.publish();
    await new Promise(setImmediate);
  }
  return client;
}

const isStats = ({ type }: { readonly type: string }) => type === 'system_stats';

for (const sampleBytes of [8 * 1024, 40 * 1024])
  t.test(`[7.limit-slow-stats] [7.limit-slow-feedback] samples of ${sampleBytes} bytes`, async (t) => {
    const rig = await serveSockets(t, { sampleBytes });
    const [quick, slow] = await openAll(t, rig, 2);
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
  const slow = await openFull(t, rig);
  for (let i = 0; i < 10; i++) slow.say('media', { action: 'stop' }, i);
  await until(() => rig.sockets.size === 0, 'it is given up');
  slow.ws.resume();
  t.match(await slow.closed, { code: 1008, reason: 'too slow for its answers' });
  const finals = slow.told.filter(({ data }) => data['final'] === true).map(({ id }) => id);
  t.ok(finals.length > 0 && finals.length < 10, `${finals.length} of 10 were kept`);
  t.strictSame(finals, [...finals.keys()], 'the first ones');
});

t.test('[7.limit-slow-feedback] a socket that never reads again is cut soon after', async (t) => {
  const rig = await serveSockets(t, { sampleBytes: 40 * 1024, run: async () => 'y'.repeat(12 * 1024) });
  const dead = await openFull(t, rig);
  const { connections } = rig.server;
  for (let i = 0; i < 10; i++) dead.say('media', { action: 'stop' }, i);
  await until(() => rig.server.connections === connections - 1, 'it is cut', 20_000);
  t.pass('it is cut');
});

t.test('[7.updates-newest] a state that had no room is sent once there is room, the newest', async (t) => {
  const rig = await serveSockets(t, { sampleBytes: 40 * 1024 });
  const slow = await openFull(t, rig, ['stats', 'media']);
  for (const title of ['one', 'two', 'three']) {
    rig.setTitle(title);
    await sleep(10);
  }
  slow.ws.resume();
  const told = await slow.take(({ type, data }) => type === 'media_update' && data['title'] !== '');
  t.equal(told.data['title'], 'three');
});
