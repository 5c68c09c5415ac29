/** Samples, answers and topics of one machine that are not what the contract promises: no client gets them. */
import t, { type Test } from 'tap';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { Dialler, dialled } from './dial-in/setup.ts';
import { EMPTY } from './played-machine.ts';
import { fleetEvents, isUp, PlayedMachine, type StartedHub, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const NESTED = `${'['.repeat(5000)}${']'.repeat(5000)}`;
/** The bytes of a text in which U+00FF stands for a byte that UTF-8 never has. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

const NO_MESSAGE = 'it sent a malformed message';
const malformed = (key: string) => `its samples are malformed: ${key}`;

/** Members of a sample beside its time, and why they are refused. */
const FLAWS: readonly (readonly [members: string, reason: string])[] = [
  ['"disks":null', malformed('disks')],
  ['"disks":[null]', malformed('disks')],
  ['"disks":[{"fs":"/","used_percent":"9"}]', malformed('disks')],
  ['"disks":{}', malformed('disks')],
  ['"d\\u0069sks":null', malformed('disks')],
  ['"cpu":null', malformed('cpu')],
  ['"cpu":{"current_load":{}}', malformed('cpu')],
  ['"cpu":{"cores":null}', malformed('cpu')],
  ['"memory":7', malformed('memory')],
  ['"gpu":[]', malformed('gpu')],
  ['"network":"x"', malformed('network')],
  ['"sensors":{}', malformed('sensors')],
  ['"host":{}', malformed('host')],
  ['"disks":[{"mount":"\xff"}]', NO_MESSAGE],
  ['"cpu":{"name":"\xed\xa0\x80"}', NO_MESSAGE],
  [`"cpu":{"x":${NESTED}}`, NO_MESSAGE],
  ['"cpu":{"current_load":1e999}', NO_MESSAGE],
  ['"cpu":{}}', NO_MESSAGE],
];

/** Members that are odd but sound, and what viewers get of them: of equal keys the last one is checked and passed on. */
const SOUND: readonly (readonly [members: string, passedOn: object])[] = [
  [`"cpu":${NESTED},"cpu":{"name":"\\u00e9"}`, { cpu: { name: 'é' } }],
  [`"cpu":{"name":"\\":","x" :${NESTED},"x":1}`, { cpu: { name: '":', x: 1 } }],
  [`"cpu":{"current_load":${NESTED},"current_load":1}`, { cpu: { current_load: 1 } }],
  ['"cpu":{"current_load":1e0 }', { cpu: { current_load: 1 } }],
  ['"later":null,"limits":null', { later: null }],
  ['"processes":{"top_cpu":null,"top_memory":[]}', { processes: { top_memory: [] } }],
];

/** Two viewers of all machines, who must be cut neither by bytes nor by a sample of one of them. */
async function watchAll(t: Parameters<typeof startHub>[0], hub: StartedHub) {
  const stream = await hub.open('/api/fleet/stream');
  const socket = await HubClient.open(t, hub);
  socket.say('subscribe', { data: { topics: ['fleet'] } });
  await socket.take('fleet');
  return {
    /** As soon as both have had a sample of `id` with this time. */
    async sees(id: string, timestamp: number): Promise<void> {
      const isIn = (hosts: object) =>
        JSON.stringify(Object.entries(hosts)).includes(`["${id}",`) &&
        JSON.stringify(hosts).includes(`"timestamp":${timestamp}`);
      await until(() => fleetEvents(stream).some(({ hosts }) => isIn(hosts)));
      await socket.take(({ type, data }) => type === 'fleet' && isIn(data['hosts'] as object));
    },
    /** All that they were sent of `id`. */
    samplesOf: (id: string) =>
      fleetEvents(stream).flatMap(({ hosts }) => (hosts[id]?.sample === undefined ? [] : [hosts[id].sample])),
    isWhole: () => !stream.events.some(({ text }) => text.includes('\ufffd')),
  };
}

/** A machine of each way to a hub that sends bytes, and one that behaves; both are watched. */
async function besiege(t: Test, connect: (bad: PlayedMachine) => Promise<StartedHub>) {
  const bad = await PlayedMachine.start(t);
  const hub = await connect(bad);
  const viewers = await watchAll(t, hub);
  /** Sends a sample with these members, as soon as one is wanted. */
  const say = async (members: string) => {
    await until(() => bad.streams === 1);
    bad.send(bytesOf(`{"type":"system_stats","data":{"timestamp":7,"uptime":2,${members}}}`));
  };
  return { hub, bad, viewers, say };
}

t.test('[I.hub.hostile] [I.hub.ws-hostile] a sample must be UTF-8, JSON, and have its shape', async (t) => {
  const good = await PlayedMachine.start(t);
  const { hub, viewers, say } = await besiege(
    t,
    async (bad) =>
      await startHub(t, { bad: { url: bad.url }, good: { url: good.url } }, {}, { floodMs: 100 }),
  );
  for (const [members, reason] of FLAWS) {
    await hub.host('bad', isUp);
    await say(members);
    t.equal((await hub.host('bad', (row) => row.reason === reason)).state, 'down', members.slice(0, 60));
  }
  good.sample({ timestamp: 5 });
  await viewers.sees('good', 5);
  t.ok(viewers.isWhole(), 'each byte of the stream is UTF-8');
  t.same(viewers.samplesOf('bad'), [], 'no bad one was passed on');
  const lines = hub.log.filter((line) => /host bad is down/.test(line) && !/debug/i.test(line));
  t.ok(lines.length >= 1 && lines.length <= 10, `${lines.length} lines in the log`);
});

t.test('[I.hub.hostile] a sample of a machine that has dialled in', async (t) => {
  const { hub, bad, viewers, say } = await besiege(t, async (bad) => {
    const hub = await startHub(t, { bad: dialled() });
    void new Dialler(t, hub.port, { id: 'bad' }, bad);
    return hub;
  });
  await hub.host('bad', isUp);
  await say('"disks":null');
  await hub.host('bad', ({ reason }) => reason === malformed('disks'));
  void new Dialler(t, hub.port, { id: 'bad' }, bad);
  await hub.host('bad', isUp);
  // The engine itself ends what is not UTF-8.
  await say('"disks":[{"mount":"\xff"}]');
  await hub.host('bad', ({ state }) => state === 'down');
  t.same(viewers.samplesOf('bad'), []);
});

t.test('[I.hub.hostile] what is odd but sound is passed on', async (t) => {
  const { hub, say } = await besiege(t, async (bad) => await startHub(t, { bad: { url: bad.url } }));
  await hub.host('bad', isUp);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { host: 'bad', data: { topics: ['stats'], detail: true } });
  const others = JSON.stringify({ ...EMPTY, interval_seconds: 1 }).slice(1, -1);
  for (const [members, passedOn] of SOUND) {
    await say(`${others},${members}`);
    const { data, text } = await client.take('system_stats');
    t.match(data, passedOn, members.slice(0, 60));
    t.notMatch(text, '[[');
  }
});

t.test('[I.hub.hostile] answers that are not what was asked for are not passed on', async (t) => {
  let result: unknown; // The body of its answer.
  const agent = await PlayedMachine.start(t, 0, () => ({ body: result }));
  const hub = await startHub(t, { a: { url: agent.url } });
  await hub.host('a', isUp);
  for (result of [[], 5, 'x']) {
    const answer = await ask(hub.port, '/api/hosts/a/media/status');
    t.equal(answer.status, 503, JSON.stringify(result));
    t.match(jsonOf(answer), {
      code: 'host_unreachable',
      details: { reason: 'its answer is malformed' },
    });
  }
  result = { timestamp: 1, uptime: 1, disks: null };
  const usage = await ask(hub.port, '/api/hosts/a/usage');
  t.equal(usage.status, 503);
  t.match(jsonOf(usage), { details: { reason: 'its samples are malformed: disks' } });
  result = { status: 'idle' };
  t.equal((await ask(hub.port, '/api/hosts/a/media/status')).status, 200);
});

t.test('[I.hub.hostile] topics that are not what they should be are not passed on', async (t) => {
  const agent = await PlayedMachine.start(t);
  agent.states.set('media', { status: 'stopped', title: '', artist: '' });
  const hub = await startHub(t, { a: { url: agent.url } });
  await hub.host('a', isUp);
  const client = await HubClient.open(t, hub);
  client.say('subscribe', { host: 'a', data: { topics: ['media'] } });
  await client.take('media_update');
  const wants = () => agent.heard.filter(({ data }) => data?.topics?.includes('media')).length;
  for (const title of ['"\xff"', NESTED, '1e999']) {
    const before = wants();
    agent.send(bytesOf(`{"type":"media_update","data":{"title":${title}}}`));
    await hub.host('a', ({ reason }) => reason === NO_MESSAGE);
    await until(() => wants() > before);
  }
  // Longer than one of a service.
  agent.say('media_update', { title: 'x'.repeat(70_000) });
  agent.say('media_update', { status: 'active', title: 'A', artist: '' });
  await client.take(({ type, data }) => type === 'media_update' && data['title'] === 'A');
  const titles = client.told.flatMap(({ type, data }) => (type === 'media_update' ? [data['title']] : []));
  t.strictSame([...new Set(titles)], ['', 'A']);
});
