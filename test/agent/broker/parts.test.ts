/** The hub's side of a broker in parts: samples as lines, states, topics, and the end of each command. */
import t from 'tap';
import { AgentTopics } from '#src/agent/protocol/agent-topics.js';
import { SampleLines } from '#src/agent/protocol/sample-lines.js';
import { readStatus } from '#src/agent/protocol/status.js';
import { Calls } from '#src/agent/remote/calls.js';
import { HostSample } from '#src/agent/remote/sample.js';
import { sampleMessage } from '#src/agent/reporter/sample-message.js';
import { SECTION_BITS } from '#src/host/host.js';
import { createLog } from '#src/log/log.js';
import { Sampler } from '#src/stats/sampler.js';
import { Encoded, VIEW_COUNT, viewAt, viewOf } from '#src/stats/view.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';

const HEAD = { run: 'r', clock: 7, n: 3 };
const message = (lines: readonly string[], head: object = {}) =>
  Buffer.from([JSON.stringify({ v: 1, ...HEAD, plain: ['cpu'], ...head }), ...lines].join('\n'));

t.test(
  '[I.hub.cut] [I.hub.mqtt.samples] every view from lines, byte by byte as the service sends it',
  async (t) => {
    const clock = new FakeClock();
    const log = createLog(() => undefined);
    const host = fixtureHost();
    const sampler = new Sampler({
      host,
      clock,
      log,
      intervalSeconds: 1,
      hostname: 'fixture',
      processes: undefined,
    });
    const wanted = sampler.latest(viewOf(31, true));
    await clock.advance(1000);
    const { sample } = await wanted;
    for (let index = 0; index < VIEW_COUNT; index++) {
      const view = viewAt(index);
      const { sections, withDetail } = view;
      for (const interest of [
        { plain: sections, detailed: withDetail ? sections : undefined },
        { plain: 31, detailed: 31 },
        { plain: 0, detailed: 31 },
      ]) {
        if (!withDetail && (interest.plain & sections) !== sections) continue;
        const lines = SampleLines.read(Buffer.from(sampleMessage(sample, interest, SECTION_BITS, HEAD)));
        const joined = lines?.join(withDetail);
        if (joined === undefined) {
          t.fail(`view ${index}`);
          continue;
        }
        const found = withDetail ? (interest.detailed ?? 0) : interest.plain;
        const made = new HostSample(joined.event, found, 0, joined.members);
        t.equal(made.event(view).toString(), new Encoded(sample).event(view).toString(), `view ${index}`);
        t.equal(made.check(), undefined);
        t.equal(
          made.event(view).toString(),
          new Encoded(sample).event(view).toString(),
          'also after the check',
        );
      }
    }
  },
);

t.test('[I.hub.hostile] a million lines are not searched for a sample of two', async (t) => {
  const payload = message([]);
  const long = Buffer.concat([payload, Buffer.alloc(2 ** 20 - payload.length, '\n')]);
  let searches = 0;
  const indexOf = (value: number, from?: number) => {
    searches++;
    return Buffer.prototype.indexOf.call(long, value, from);
  };
  t.equal(SampleLines.read(Object.assign(long, { indexOf })), undefined);
  t.ok(searches < 10, `${searches} searches`);
});

t.test('[I.hub.mqtt.samples] payloads that are not samples, and lines that are not members', async (t) => {
  const time = '"timestamp":1,"uptime":2';
  t.ok(SampleLines.read(message([time, '"cpu":{}'])));
  for (const bad of [
    Buffer.alloc(0),
    Buffer.from('{}'),
    Buffer.from('\n'),
    message([time]),
    message([time, '"cpu":{}', '']),
    message([time, '"cpu":{"a":"\r"}']),
    message([time, '"cpu":{}'], { v: 2 }),
    message([time, '"cpu":{}'], { run: 5 }),
    message([time, '"cpu":{}'], { clock: 'x' }),
    message([time, '"cpu":{}'], { plain: ['cpu', 'cpu'] }),
    message([time, '"x":{}'], { plain: ['x'] }),
    message([time, '"cpu":{}'], { plain: 'cpu' }),
    message([time, '"cpu":{}'], { detail: ['cpu'] }),
    message([time, '"cpu":{}'], { pad: 'x'.repeat(2000) }),
  ])
    t.equal(SampleLines.read(bad), undefined, bad.toString().slice(0, 80));
  const isValid = (lines: readonly string[], head: object) => {
    const joined = SampleLines.read(message(lines, head))?.join(false);
    return joined && new HostSample(joined.event, 3, 0, joined.members).check() === undefined;
  };
  const two = { plain: ['cpu', 'memory'] };
  t.equal(isValid([time, '"cpu":{}', '"memory":{}'], two), true);
  for (const lines of [
    // Valid together, but not on their own.
    [time, '"cpu":{"a":"', '"memory":"},"memory":{}'],
    [time, '"cpu":{}', '"cpu":{}'],
    [time, '"cpu":{}', '"memory":{}}'],
    [time, '', '"memory":{}'],
    ['"uptime":2', '"cpu":{}', '"memory":{}'],
  ])
    t.equal(isValid(lines, two), false, lines.join(' | '));
});

t.test('[I.hub.mqtt] states and topics', async (t) => {
  const read = (value: unknown) => readStatus(Buffer.from(JSON.stringify(value)));
  t.same(read({ state: 'online', run: 'a', name: 'desk', labels: { site: 'x', 'b d': 'y', n: 5 } }), {
    isOnline: true,
    run: 'a',
    name: 'desk',
    labels: { site: 'x' },
  });
  t.same(read({ state: 'offline', run: 'a', name: 'a b' }), {
    isOnline: false,
    run: 'a',
    name: undefined,
    labels: {},
  });
  for (const bad of [
    null,
    [],
    'x',
    {},
    { state: 'up', run: 'a' },
    { state: 'online' },
    { state: 'online', run: '' },
  ])
    t.equal(read(bad), undefined, JSON.stringify(bad));
  t.equal(readStatus(Buffer.from('{')), undefined);
  t.equal(readStatus(Buffer.alloc(9000, 'x')), undefined);
  const topics = new AgentTopics('a/b', 'hub1');
  t.same([topics.states, topics.answers], ['a/b/+/hub/status', 'a/b/+/hub/feedback/hub1']);
  for (const kind of ['sample', 'media', 'power', 'event'])
    t.same(topics.read(`a/b/pc/hub/${kind}`), { id: 'pc', kind });
  t.same(topics.read('a/b/pc/hub/feedback/hub1'), { id: 'pc', kind: 'feedback' });
  for (const other of [
    'a/b/pc/hub/feedback/hub2',
    'a/b/pc/hub/want',
    'a/b//hub/status',
    'a/b/p.c/hub/status',
    'a/b',
  ])
    t.equal(topics.read(other), undefined, other);
  t.equal(topics.read('x/b/pc/hub/status'), undefined);
  t.equal(topics.command('pc', 'media.set_volume'), 'a/b/pc/hub/cmd/media/set_volume');
});

t.test('[I.hub.mqtt.commands] how a command ends', async (t) => {
  const clock = new FakeClock();
  const sent: { readonly id: string; readonly topic: string; readonly text: string }[] = [];
  let isConnected = true;
  const calls = new Calls({
    hub: 'hub1',
    clock,
    answerMs: 1000,
    publish: (id, topic, text) => {
      if (isConnected) sent.push({ id, topic, text });
      return isConnected;
    },
  });
  const who = callerAt('192.0.2.7', 'default');
  const begin = (what = 'media.mute', params = {}) =>
    calls.command('pc', { what, params, who, deadlineMs: clock.now() + 5000 }, { run: 'r', clock: 99 });
  const answer = (more: object, id = JSON.parse(sent.at(-1)?.text ?? '').id) =>
    calls.take('pc', Buffer.from(JSON.stringify({ command: 'x', id, run: 'r', clock: 5, ...more })));
  const refused = async (call: Promise<unknown>, code: string, message: string) =>
    await t.rejects(call, { code }, message);

  const done = begin();
  t.match(JSON.parse(sent[0]?.text ?? ''), {
    hub: 'hub1',
    client: '192.0.2.7',
    key: 'default',
    run: 'r',
    deadline: 99,
    params: {},
  });
  t.equal(sent[0]?.topic, 'media.mute');
  t.equal(answer({ stage: 'running' })?.clock, 5, 'not the end');
  t.match(answer({ stage: 'done', result: { status: 'ok' }, delivered: 'true' }), { run: 'r', clock: 5 });
  t.match(await done, { bytes: Buffer.from('{"status":"ok"}'), delivered: 'true' });
  t.equal(answer({ stage: 'done' }), undefined, 'a second answer is none');

  for (const [more, code] of [
    [{ stage: 'failed', code: 'action_failed', message: 'No.' }, 'action_failed'],
    [{ stage: 'refused', code: 'feature_disabled', message: 'Off.' }, 'feature_disabled'],
    [{ stage: 'refused', code: 'made_up' }, 'internal_error'],
    [{ stage: 'ignored', code: 'late' }, 'host_unreachable'],
    [{ stage: 'ignored', code: 'other_run' }, 'host_unreachable'],
    [{ stage: 'ignored', code: 'duplicate' }, 'outcome_unknown'],
  ] as const) {
    const call = begin();
    answer(more);
    await refused(call, code, JSON.stringify(more));
  }

  const silent = refused(begin(), 'outcome_unknown', 'nothing came');
  await clock.advance(5999);
  const slow = begin('process.kill', { timeout_ms: 3000 });
  await clock.advance(1);
  await silent;
  answer({ stage: 'done' });
  await slow;

  const cut = refused(begin(), 'outcome_unknown', 'it was sent');
  const question = calls.question('pc', { what: 'power', params: {}, who, deadlineMs: clock.now() + 5000 });
  const undone = refused(question, 'host_unreachable', 'a question does nothing');
  calls.lost('the broker was lost');
  await cut;
  await undone;
  const before = sent.length;
  isConnected = false;
  await refused(begin(), 'host_unreachable', 'it was not sent');
  isConnected = true;
  for (const name of ['media', 'media.a/b', 'media.#', 'a.b.c', '+.x'])
    await refused(begin(name), 'unknown_action', name);
  const late = calls.command(
    'pc',
    { what: 'a.b', params: {}, who, deadlineMs: clock.now() },
    { run: 'r', clock: 1 },
  );
  await refused(late, 'host_unreachable', 'too late to be sent');
  t.equal(sent.length, before, 'none of them was sent');
  for (const result of [
    undefined,
    {},
    { type: 'text/html', base64: 'PGI+' },
    { type: 'image/png', base64: 1 },
  ]) {
    const art = calls.question('pc', { what: 'art', params: {}, who, deadlineMs: clock.now() + 5000 });
    answer({ stage: 'done', result });
    await refused(art, 'host_unreachable', `no picture: ${JSON.stringify(result)}`);
  }

  const before32 = sent.length;
  const many = Array.from({ length: 16 }, () => refused(begin(), 'outcome_unknown', 'lost'));
  t.equal(sent.length, before32 + 16, 'as many as an agent takes at a time');
  const waiting = Array.from({ length: 32 }, () => refused(begin(), 'host_unreachable', 'not sent'));
  await refused(begin(), 'too_many_requests', 'of one agent');
  t.equal(sent.length, before32 + 16);
  t.equal(
    calls.take('nas', Buffer.from(sent.at(-1)?.text ?? '')),
    undefined,
    'another agent answers nothing',
  );
  calls.lost('gone', 'pc');
  await Promise.all([...many, ...waiting]);
  const ids = sent.map(({ text }) => JSON.parse(text).id);
  t.equal(new Set(ids).size, ids.length, 'each has an id of its own');
});
