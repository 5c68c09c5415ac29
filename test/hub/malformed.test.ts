/** Samples, answers and topics of one machine that are not what the contract promises: no client gets them. */
import t from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { SampleLines } from '#src/agent/protocol/sample-lines.js';
import { Calls } from '#src/agent/remote/calls.js';
import { PushedTopics } from '#src/agent/remote/pushed.js';
import { HostSample } from '#src/agent/remote/sample.js';
import { viewOf } from '#src/stats/view.js';
import { Dialler, dialled } from '../agent/websocket/setup.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';
import { done } from './played-agent.ts';
import { fleetEvents, isUp, PlayedAgent, type StartedHub, startHub } from './setup.ts';
import { HubClient } from './socket-setup.ts';

const NESTED = `${'['.repeat(5000)}${']'.repeat(5000)}`;
/** The bytes of a text in which U+00FF stands for a byte that UTF-8 never has. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

const NO_SAMPLE = 'its samples are malformed';
const NO_UTF8 = 'its samples are not valid UTF-8';
const malformed = (key: string) => `its samples are malformed: ${key}`;

/** Members of a sample beside its time, and why they are refused. */
const FLAWS: readonly (readonly [members: string, reason: string])[] = [
  ['"disks":null', malformed('disks')],
  ['"disks":[null]', malformed('disks')],
  ['"disks":[{"fs":"/","used_percent":"9"}]', malformed('disks')],
  ['"disks":{}', malformed('disks')],
  ['"d\\u0069sks":null', NO_SAMPLE],
  ['"cpu":null', malformed('cpu')],
  ['"cpu":{"current_load":{}}', malformed('cpu')],
  ['"cpu":{"cores":null}', malformed('cpu')],
  ['"memory":7', malformed('memory')],
  ['"gpu":[]', malformed('gpu')],
  ['"network":"x"', malformed('network')],
  ['"sensors":{}', malformed('sensors')],
  ['"host":{}', malformed('host')],
  ['"disks":[{"mount":"\xff"}]', NO_UTF8],
  ['"cpu":{"name":"\xed\xa0\x80"}', NO_UTF8],
  [`"cpu":{"x":${NESTED}}`, NO_SAMPLE],
  ['"cpu":{"current_load":1e999}', NO_SAMPLE],
  ['"cpu":{}}', NO_SAMPLE],
];

/** Members with equal keys: the last one is checked and passed on. */
const EQUAL_KEYS: readonly (readonly [members: string, passedOn: string])[] = [
  [`"cpu":${NESTED},"cpu":{"name":"\\u00e9"}`, '"cpu":{"name":"é"}'],
  [`"cpu":{"name":"\\":","x" :${NESTED},"x":1}`, '"cpu":{"name":"\\":","x":1}'],
  [`"cpu":{"current_load":${NESTED},"current_load":1}`, '"cpu":{"current_load":1}'],
  ['"cpu":{"current_load":1e0 }', '"cpu":{"current_load":1e0 }'],
];

t.test('[I.hub.hostile] a sample must be UTF-8, JSON, and of the shape of a sample', async (t) => {
  const read = (members: string, time = '1') => {
    const event = bytesOf(`data: {"timestamp":${time},${members}}\n\n`);
    const section = /^"(cpu|memory|gpu|disks|network)":/.exec(members)?.[1] ?? '';
    const begin = `data: {"timestamp":${time}`.length;
    const end = event.length - 3;
    const claims = [
      { key: 'timestamp', start: 'data: {'.length, end: begin },
      { key: section, start: begin + 1, end },
    ];
    return new HostSample(event, 31, 0, claims);
  };
  const flawOf = (members: string, time?: string) => read(members, time).check();
  for (const [members, passedOn] of EQUAL_KEYS) {
    const sample = read(members);
    t.equal(sample.check(), undefined, members.slice(0, 60));
    t.equal(sample.payload(viewOf(31, false)).toString(), `{"timestamp":1,${passedOn}}`, 'what was checked');
    t.equal(sample.payload(viewOf(2, false)).toString(), '{"timestamp":1}', 'without the section');
  }
  for (const [members, reason] of FLAWS) t.equal(flawOf(members), reason, members.slice(0, 60));
  for (const time of ['null', '"1"', '-1', '1e300'])
    t.equal(flawOf('"uptime":1', time), malformed('timestamp'));
  for (const sound of [
    '"uptime":1',
    '"later":null,"limits":null,"processes":{"top_cpu":null,"top_memory":[]}',
  ])
    t.equal(flawOf(sound), undefined, sound);
});

t.test('[I.hub.hostile] the same of lines that agents publish', async (t) => {
  const flawOf = (lines: readonly string[], plain: readonly string[]) => {
    const head = JSON.stringify({ v: 1, run: 'r', clock: 1, plain });
    const joined = SampleLines.read(bytesOf([head, '"timestamp":1,"uptime":2', ...lines].join('\n')))?.join(
      false,
    );
    return joined && new HostSample(joined.event, 31, 0, joined.members).check();
  };
  t.equal(flawOf(['"disks":[]', '"cpu":{}'], ['disks', 'cpu']), undefined);
  t.equal(flawOf(['"disks":null'], ['disks']), malformed('disks'));
  t.equal(flawOf(['"disks":[{"mount":"\xff"}]'], ['disks']), NO_UTF8);
  t.equal(flawOf([`"cpu":{"x":${NESTED}}`], ['cpu']), NO_SAMPLE);
  for (const lines of [
    ['"disks":[],"timestamp":2', '"cpu":{}'],
    ['"disks":[],"x":2', '"cpu":{}'],
    ['"disks":[', '1],"cpu":{}'],
    // Together they are a list of as many objects with these keys.
    ['"disks":[{"x":1', '"cpu":2}]},{"cpu":{}'],
  ])
    t.equal(flawOf(lines, ['disks', 'cpu']), NO_SAMPLE, lines.join(' | '));
});

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

t.test('[I.hub.hostile] [I.hub.ws-hostile] a bad sample over a connection that the hub opened', async (t) => {
  const [bad, good] = [await PlayedAgent.start(t), await PlayedAgent.start(t)];
  const hub = await startHub(t, { bad: { url: bad.url }, good: { url: good.url } });
  const viewers = await watchAll(t, hub);
  await until(() => bad.streams === 1 && good.streams === 1);
  bad.sample({ timestamp: 1 });
  await viewers.sees('bad', 1);
  const names = ['cpu', 'memory', 'gpu', 'disks', 'network'];
  const sound: Readonly<Record<string, string>> = { gpu: '"gpu":null', disks: '"disks":[]' };
  let time = 10;
  for (const [line, reason] of [
    ['"disks":null', malformed('disks')],
    ['"disks":[{"used":1e999}]', NO_SAMPLE],
    ['"disks":[],"x":1', NO_SAMPLE],
    ['"disks":[{"mount":"\xff"}]', NO_UTF8],
  ] as const) {
    bad.lines(
      [
        '"timestamp":2',
        ...names.map((name) => bytesOf(name === 'disks' ? line : (sound[name] ?? `"${name}":{}`))),
      ],
      { plain: names },
    );
    const row = await hub.host('bad', (each) => each.reason === reason);
    t.equal(row.state, 'down', reason);
    good.sample({ timestamp: ++time });
    await viewers.sees('good', time);
    await hub.host('bad', isUp);
    await until(() => bad.streams === 1);
  }
  t.ok(viewers.isWhole(), 'each byte of the stream is UTF-8');
  const times = viewers.samplesOf('bad').map((sample) => (sample as { timestamp?: number }).timestamp);
  t.notOk(times.includes(2), 'no bad one was passed on');
  const lines = hub.log.filter((line) => /host bad is down/.test(line) && !/debug/i.test(line));
  t.ok(lines.length >= 1 && lines.length <= 10, `${lines.length} lines in the log`);
});

t.test('[I.hub.hostile] a bad sample of an agent that has dialled in', async (t) => {
  const good = await PlayedAgent.start(t);
  const hub = await startHub(t, { pc: dialled(), good: { url: good.url } });
  const viewers = await watchAll(t, hub);
  const agent = new Dialler(t, hub.port);
  await agent.enter();
  await until(() => agent.on('want').length > 0 && good.streams === 1);
  const say = (line: string) => {
    const names = ['cpu', 'memory', 'gpu', 'disks', 'network'];
    const head = JSON.stringify({ v: 1, run: 'run1', clock: performance.now(), n: 0, plain: names });
    const rest = names.map((name) => (name === 'disks' ? line : `"${name}":{}`));
    // In a binary frame, whose text no engine checks.
    agent.socket.send(bytesOf(`\0sample\n${[head, '"timestamp":7,"uptime":2', ...rest].join('\n')}`));
  };
  say('"disks":[{"mount":"\xff"}]');
  await hub.host('pc', ({ reason }) => reason === NO_UTF8);
  good.sample({ timestamp: 5 });
  await viewers.sees('good', 5);
  t.ok(viewers.isWhole());
  t.same(viewers.samplesOf('pc'), []);
  agent.say('status', { state: 'online', run: 'run1' });
  await hub.host('pc', isUp);
  await until(() => JSON.parse(agent.on('want').at(-1) ?? '{}').sections?.length === 5);
  say('"disks":[]');
  await viewers.sees('pc', 7);
});

t.test('[I.hub.hostile] answers that are not what was asked for are not passed on', async (t) => {
  let result: unknown;
  const agent = await PlayedAgent.start(t, 0, () => ({ ...done(), result }));
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

t.test('[I.hub.hostile] answers and topics over a broker', async (t) => {
  const clock = new FakeClock();
  let sent = '';
  const publish = (_id: string, _name: string, payload: string) => {
    sent = payload;
    return true;
  };
  const calls = new Calls({ hub: 'h', clock, answerMs: 10, publish });
  const question = { what: 'media', params: {}, who: OWN_ACCOUNT, deadlineMs: 1000 };
  const answered = async (result: string) => {
    const found = calls.question('a', question).then(
      ({ bytes }) => bytes.toString(),
      (error: Error) => error.constructor.name,
    );
    const { id } = JSON.parse(sent);
    calls.take('a', bytesOf(`{"id":"${id}","stage":"done","run":"r","clock":1,"result":${result}}`));
    await clock.advance(2000);
    return await found;
  };
  t.equal(await answered('{"a":1}'), '{"a":1}');
  t.equal(await answered('null'), '{}', 'a command that returns nothing');
  for (const result of ['5', '[]', '"x"', `{"x":${NESTED}}`, '{"x":"\xff"}'])
    t.equal(await answered(result), 'ServiceError', result.slice(0, 20));
  const payloads: string[] = [];
  const topics = new PushedTopics(() => undefined);
  topics.follow('media', { onPayload: (json) => payloads.push(json), onLost: () => undefined });
  for (const text of ['{"title":"\xff"}', `{"title":${NESTED}}`, '[]', '{"title":"A"}'])
    topics.take('media', bytesOf(text));
  t.same(payloads, ['{"title":"A"}']);
});
