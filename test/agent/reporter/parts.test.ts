/** Unit tests of the agent's side of a hub: what is leased, for how long, and which commands are late. */
import t from 'tap';
import { hubTopicsOf } from '#src/agent/protocol/hub-topics.js';
import { MAX_AHEAD_MS, readHubCommand } from '#src/agent/reporter/hub-request.js';
import { type HubInterest, readInterest } from '#src/agent/reporter/interest.js';
import { LEASE_MS, Leases, MAX_LEASES } from '#src/agent/reporter/leases.js';
import { sampleMessage } from '#src/agent/reporter/sample-message.js';
import { SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { createLog } from '#src/log/log.js';
import { Sampler } from '#src/stats/sampler.js';
import { Encoded, VIEW_COUNT, viewAt, viewOf } from '#src/stats/view.js';
import { FakeClock } from '../../helpers/fakes/clock.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';
import { SampleLines } from './rig.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
const namesIn = (sections: number) => SECTIONS.filter((name) => (sections & SECTION_BITS[name]) !== 0);

t.test('[3.mqtt-hub-sample] every view is made of lines, byte by byte as over HTTP', async (t) => {
  const clock = new FakeClock();
  const log = createLog(() => undefined);
  const options = {
    host: fixtureHost(),
    clock,
    intervalSeconds: 1,
    hostname: 'fixture',
    processes: undefined,
  };
  const sampler = new Sampler({ ...options, log });
  const wanted = sampler.latest(viewOf(31, true));
  await clock.advance(1000);
  const { sample } = await wanted;
  const head = { run: 'r', clock: 7, n: 3 };
  for (let index = 0; index < VIEW_COUNT; index++) {
    const view = viewAt(index);
    const names = namesIn(view.sections);
    // With more than the view has, as other viewers want it.
    for (const interest of [
      { plain: view.sections, detailed: view.withDetail ? view.sections : undefined },
      { plain: 31, detailed: 31 },
    ]) {
      const lines = new SampleLines(sampleMessage(sample, interest, SECTION_BITS, head));
      t.match(lines.head, { v: 1, ...head });
      t.equal(lines.join(names, view.withDetail), new Encoded(sample).json(view), `view ${index}`);
    }
  }
  const few = new SampleLines(sampleMessage(sample, { plain: 1, detailed: undefined }, SECTION_BITS, head));
  t.same(few.head.plain, ['cpu']);
  t.equal(few.head.detail, undefined);
  t.equal(few.join(['memory'], false), undefined, 'what was not wanted is not there');
  const { sample: plain } = await sampler.latest(viewOf(2, false));
  t.match(plain, { memory: Object });
});

t.test('[3.mqtt-hub-want] valid wants, and invalid ones', async (t) => {
  const read = (value: unknown) => readInterest(bytes(value), SECTION_BITS);
  t.same(read({ hub: 'h-1', sections: ['cpu', 'disks'], interval_seconds: 2.5, topics: ['media', 'x'] }), {
    hub: 'h-1',
    plain: 1 | 8,
    detailed: undefined,
    intervalMs: 2500,
    media: true,
    power: false,
    events: false,
  });
  t.match(read({ hub: 'h', detail: ['gpu'], sections: ['future'] }), {
    plain: 0,
    detailed: 4,
    intervalMs: 0,
  });
  t.match(read({ hub: 'h', detail: [] }), { detailed: 0 }, 'what detail adds beside sections');
  for (const bad of [
    ...['', '[]', 'null', '{', '{}', { hub: '' }, { hub: 'a/b' }, { hub: 'a.b' }, { hub: 'x'.repeat(65) }],
    ...[
      { hub: 'h', sections: 'cpu' },
      { hub: 'h', detail: true },
      { hub: 'h', topics: {} },
    ],
    ...[
      { hub: 'h', interval_seconds: -1 },
      { hub: 'h', interval_seconds: 86_401 },
    ],
    ...[
      { hub: 'h', interval_seconds: '1' },
      { hub: 'h', sections: Array.from({ length: 999 }, () => 'cpu') },
    ],
  ])
    t.type(read(bad), 'string', JSON.stringify(bad).slice(0, 50));
});

const wantOf = (hub: string, more: Partial<HubInterest> = {}): HubInterest => ({
  hub,
  plain: 1,
  detailed: undefined,
  intervalMs: 0,
  media: false,
  power: false,
  events: false,
  ...more,
});

t.test('[3.mqtt-hub-lease] leases end by arrival, are bounded, and add up', async (t) => {
  const clock = new FakeClock();
  const leases = new Leases(clock.now);
  t.equal(leases.endsInMs, undefined);
  t.equal(leases.take(wantOf('a')), 'wider');
  t.equal(leases.take(wantOf('a')), 'renewed');
  t.equal(leases.take(wantOf('a', { media: true })), 'wider');
  t.equal(leases.take(wantOf('e', { plain: 0, events: true })), 'wider');
  t.ok(leases.wants('events'));
  t.equal(leases.take(wantOf('e', { plain: 0 })), 'renewed');
  t.notOk(leases.wants('events'));
  t.equal(leases.take(wantOf('b', { plain: 6, detailed: 0 })), 'wider');
  t.same(leases.interest, { plain: 7, detailed: 0 });
  t.ok(leases.wants('media'));
  await clock.advance(LEASE_MS - 1);
  leases.take(wantOf('b', { plain: 2 }));
  t.equal(leases.endsInMs, 1);
  await clock.advance(1);
  leases.expire();
  t.same(leases.interest, { plain: 2, detailed: undefined }, 'a has ended, and b wants less');
  t.notOk(leases.wants('media'));
  t.equal(leases.take(wantOf('b', { plain: 0 })), 'renewed', 'a want of nothing is the end');
  t.same([leases.endsInMs, leases.due(0)], [undefined, undefined]);
  for (let at = 0; at < MAX_LEASES; at++) t.equal(leases.take(wantOf(`h${at}`)), 'wider');
  t.equal(leases.take(wantOf('one-more')), 'full');
  t.equal(leases.take(wantOf('h0')), 'renewed', 'who has one keeps it');
  await clock.advance(LEASE_MS);
  t.equal(leases.take(wantOf('one-more')), 'wider', 'when there is room');
});

t.test('[3.mqtt-hub-interval] a slower interest thins out the ticks of the service', async (t) => {
  const clock = new FakeClock();
  const leases = new Leases(clock.now);
  const renew = () => {
    leases.take(wantOf('each'));
    leases.take(wantOf('slow', { plain: 2, intervalMs: 2500 }));
    leases.take(wantOf('rare', { plain: 4, intervalMs: 60_000 }));
  };
  renew();
  const counts = { each: 0, slow: 0, rare: 0 };
  for (let tick = 0; tick < 100; tick++) {
    const plain = leases.due(500)?.plain ?? 0;
    counts.each += plain & 1;
    counts.slow += (plain & 2) / 2;
    counts.rare += (plain & 4) / 4;
    await clock.advance(1000);
    renew();
  }
  t.same(counts, { each: 100, slow: 40, rare: 2 });
  const alone = new Leases(clock.now);
  alone.take(wantOf('rare', { intervalMs: 60_000 }));
  t.same(alone.due(500), { plain: 1, detailed: undefined });
  t.equal(alone.due(500), undefined, 'nothing is due');
  alone.take(wantOf('rare', { intervalMs: 1000 }));
  await clock.advance(1000);
  t.same(alone.due(0), { plain: 1, detailed: undefined }, 'a shorter interval holds at once');
});

const PRESENT = { run: 'run-1', clock: 1_000_000 };
const envelope = (more: object = {}) => ({
  hub: 'h',
  id: 'i',
  client: '192.0.2.1',
  key: 'home',
  run: PRESENT.run,
  deadline: PRESENT.clock + 5000,
  params: { value: 1 },
  ...more,
});
const readCommand = (value: unknown) => readHubCommand('a.b', bytes(value), PRESENT, callerAt('hub', 'hub'));

t.test('[3.mqtt-hub-deadline] a command is judged by this clock and this run alone', async (t) => {
  const caller = { ...callerAt('192.0.2.1', 'hub'), via: { hub: 'h', key: 'home' } };
  t.same(readCommand(envelope()), {
    name: 'a.b',
    params: { value: 1 },
    id: 'i',
    key: 'h/i',
    sentAt: undefined,
    caller,
  });
  t.match(readCommand(envelope({ deadline: PRESENT.clock })), { lateness: undefined });
  t.match(readCommand(envelope({ deadline: PRESENT.clock - 1 })), { lateness: 'late' });
  t.match(readCommand(envelope({ run: 'run-0', deadline: 9e15 })), { lateness: 'other_run' });
  t.match(readCommand(envelope({ deadline: PRESENT.clock + MAX_AHEAD_MS })), { params: { value: 1 } });
  t.match(readCommand(envelope({ deadline: PRESENT.clock + MAX_AHEAD_MS + 1 })), { code: 'invalid_value' });
  t.match(readCommand(envelope({ key: null })), { caller: { isKeyed: false } });
});

t.test('[3.mqtt-hub-malformed] malformed commands are answered if their hub is known', async (t) => {
  for (const [bad, code, isAnswered] of [
    ['', 'invalid_json', false],
    ['[]', 'invalid_json', false],
    [`"${'x'.repeat(70_000)}"`, 'payload_too_large', false],
    [envelope({ hub: 'a/+' }), 'invalid_value', false],
    [envelope({ id: 5 }), 'invalid_value', false],
    [envelope({ id: 'x'.repeat(129) }), 'invalid_value', false],
    [envelope({ client: 'somebody' }), 'invalid_value', true],
    [envelope({ key: 'a\nline' }), 'invalid_value', true],
    [envelope({ key: 5 }), 'invalid_value', true],
    [envelope({ params: [1] }), 'invalid_value', true],
    [envelope({ deadline: 'soon' }), 'invalid_value', true],
    [envelope({ run: undefined }), 'invalid_value', true],
  ] as const) {
    const flaw = readCommand(bad);
    t.match(flaw, { code }, JSON.stringify(bad).slice(0, 60));
    t.equal(flaw.caller !== undefined, isAnswered);
  }
});

t.test('[3.mqtt-hub-topics] no topic has a dot, and no other topic is a command', async (t) => {
  const topics = hubTopicsOf('home', 'pc');
  t.equal(topics.commandOn('home/pc/hub/cmd/power/sleep'), 'power.sleep');
  for (const other of ['cmd/power', 'cmd/get', 'cmd/', 'cmd/a/b/c', 'cmd//b', 'want', 'cmd/power/'])
    t.equal(topics.commandOn(`home/pc/hub/${other}`), undefined, other);
  const all = [topics.status, topics.sample, topics.want, topics.get, topics.commands, topics.feedback('h')];
  t.notOk(all.some((topic) => topic.includes('.')));
});
