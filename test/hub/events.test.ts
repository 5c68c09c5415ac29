/**
 * The events of a hub: machines that go and come, what machines say of themselves, to whom both are sent, and who sees
 * the processes of an event.
 */
import '../helpers/service/dead-buses.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { eventList, type MachineEvent, machineEvent } from '#src/wire/events.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { SocketClient } from '../helpers/clients/socket.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import type { ConfigPart } from '../helpers/fakes/config-parts.ts';
import { FAKE_EVENT, FAKE_MACHINE_EVENT, FAKE_NOW, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { bearer, keyOf, keyWith } from '../helpers/keys.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { receive } from '../notify/receive.ts';
import { isUp, PlayedMachine, type StartedHub, startHub } from './setup.ts';
import { HubClient, type HubTold } from './socket-setup.ts';

const KEYS = {
  all: keyWith('all', 'read', 'processes'),
  read: keyWith('read', 'read'),
  media: keyWith('media', 'media'),
};

async function listOf(hub: Pick<StartedHub, 'port'>, query = '', headers = {}) {
  return v.parse(eventList, jsonOf(await ask(hub.port, `/api/events${query}`, { headers })));
}

/** `subject state` of each event of a machine, once `count` are there. */
async function wordsOf(hub: StartedHub, count: number, machine = 'a'): Promise<readonly string[]> {
  const read = async () => (await listOf(hub)).events.filter((each) => each.machine === machine);
  await until(async () => (await read()).length >= count);
  return (await read()).map(({ subject, state }) => `${subject} ${state}`);
}

async function start(t: Test, config: ConfigPart = {}) {
  const machine = await PlayedMachine.start(t);
  const hub = await startHub(t, { a: { url: machine.url, name: 'desk' } }, config);
  await hub.host('a', isUp);
  // It is asked after its topics were subscribed to.
  await until(() => machine.eventsAsked.length > 0);
  return { machine, hub };
}

/** The machine again, at the same address, with the events that it had. */
async function comeBack(t: Test, before: PlayedMachine) {
  const machine = await PlayedMachine.start(t, before.port);
  machine.events.push(...before.events);
  return machine;
}

t.test('[12.hub-down] a machine that is killed is down once, and up again once', async (t) => {
  const { machine, hub } = await start(t);
  for (let round = 1, before = machine; round <= 3; round++) {
    before.stop();
    t.equal((await wordsOf(hub, 2 * round - 1)).at(-1), 'down begin');
    const [open] = (await listOf(hub)).open;
    t.match(open, { kind: 'machine', severity: 'critical', machine: 'a', end: null });
    t.match(open?.text, /^desk is down: /);
    before = await comeBack(t, before);
    await hub.host('a', isUp);
    const words = await wordsOf(hub, 2 * round);
    t.strictSame(words, Array.from({ length: round }, () => ['down begin', 'down end']).flat());
  }
  const { events, open } = await listOf(hub);
  t.strictSame(open, []);
  t.equal(events.at(-1)?.text, 'desk is up again');
  t.ok((events.at(-1)?.end ?? 0) >= (events.at(-1)?.begin ?? 0));
});

t.test(
  '[12.hub-never] one that never was there is not missed, one that is taken out has no events',
  async (t) => {
    const { machine, hub } = await start(t);
    machine.happens('disk-full disk.used_percent//', 'begin');
    await wordsOf(hub, 1);
    hub.reconfigure({ b: { url: 'http://127.0.0.1:1' } });
    t.strictSame(await wordsOf(hub, 2), [
      'disk-full disk.used_percent// begin',
      'disk-full disk.used_percent// end',
    ]);
    await hub.host('b', ({ reason }) => reason !== 'not contacted yet');
    t.strictSame((await listOf(hub)).open, []);
  },
);

for (const [reason, subject] of [
  ['sleep', 'asleep'],
  ['hibernate', 'asleep'],
  ['shutdown', 'off'],
  ['restart', 'off'],
] as const)
  t.test(`[12.hub-planned] 10 of 10 times ${reason} is no alarm`, async (t) => {
    const { machine, hub } = await start(t);
    for (let round = 1; round <= 10; round++) {
      machine.say('closing', { reason });
      machine.cut();
      await wordsOf(hub, 2 * round);
      await hub.host('a', isUp);
    }
    const { events, open } = await listOf(hub);
    t.strictSame(open, []);
    t.strictSame(
      events.map(({ subject: of, state, severity }) => [of, state, severity]),
      Array.from({ length: 10 }, () => ['begin', 'end'].map((state) => [subject, state, 'info'])).flat(),
    );
  });

t.test('[12.hub-restart] after a restart of the hub a machine that slept is no alarm', async (t) => {
  const state_path = path.join(t.testdir(), 'state');
  const machine = await PlayedMachine.start(t);
  const agents = { a: { url: machine.url, name: 'desk' } };
  const first = await startHub(t, agents, { hub: { state_path } });
  await first.host('a', isUp);
  machine.say('closing', { reason: 'sleep' });
  await first.host('a', ({ state }) => state === 'asleep');
  machine.stop();
  await first.stop();
  const second = await startHub(t, agents, { hub: { state_path } });
  // It has tried to reach it several times.
  await sleep(1000);
  t.match(await second.host('a'), { state: 'asleep' });
  t.notOk((await listOf(second)).events.some(({ subject }) => subject === 'down'));
  await comeBack(t, machine);
  await second.host('a', isUp);
});

t.test(
  '[12.hub-first-look] a machine that does not come back after a restart of the hub is down',
  async (t) => {
    const state_path = path.join(t.testdir(), 'state');
    const condition = { state: 'up', since: 1_700_000_000 };
    const row = { id: 'a', name: 'desk', labels: {}, condition, seen: Date.now() / 1000, facts: {} };
    writeFileSync(state_path, `${JSON.stringify(row)}\n`);
    const clock = new FakeClock();
    const key_file = { path: 'k', secret: keyOf('a') };
    const hub = await startHub(
      t,
      { a: { dials_in: true, key_file } as never },
      { hub: { state_path } },
      {},
      clock,
    );
    t.strictSame((await listOf(hub)).events, []);
    await clock.advance(30_000);
    t.match((await listOf(hub)).open, [
      { subject: 'down', text: 'desk is down: not reached since the hub started' },
    ]);
  },
);

t.test('[12.hub-of-machines] what a machine reports has its id and a number of the hub', async (t) => {
  const { machine, hub } = await start(t);
  const processes = { cpu: [{ name: 'burn', count: 1, value: 90 }], memory: null, disk: null };
  machine.happens('busy cpu.load', 'begin', { processes });
  machine.happens('busy cpu.load', 'begin');
  machine.happens('other cpu.load', 'end');
  machine.happens('down', 'begin', { kind: 'machine' });
  machine.say('event', { id: 'x', subject: 5 });
  machine.happens('busy cpu.load', 'end', { value: 3 });
  t.strictSame(await wordsOf(hub, 2), ['busy cpu.load begin', 'busy cpu.load end']);
  const { events, last } = await listOf(hub);
  t.match(events[0], { machine: 'a', value: 91, limit: 90, severity: 'warning', processes });
  t.equal(events.at(-1)?.id, last);
  t.ok((events[0]?.id ?? 0) > 1_000_000_000_000, 'a number of its own');
  t.equal((await ask(hub.port, '/api/hosts/nobody/events')).status, 404);
  const there = v.parse(eventList, jsonOf(await ask(hub.port, '/api/hosts/desk/events?limit=2')));
  t.match(there.events, [{ machine: 'played' }, { machine: 'played' }], 'as it is there');
});

t.test('[12.hub-missed] what happened while the hub was away arrives once, and what lasts', async (t) => {
  const { machine, hub } = await start(t);
  machine.happens('A x', 'begin');
  machine.happens('B x', 'begin');
  await wordsOf(hub, 2);
  machine.stop();
  // Nobody follows it any more.
  machine.happens('A x', 'end');
  machine.happens('C x', 'begin');
  machine.happens('C x', 'end');
  machine.happens('D x', 'begin');
  const again = await comeBack(t, machine);
  await hub.host('a', isUp);
  const words = (await wordsOf(hub, 8)).filter((each) => !each.startsWith('down'));
  t.strictSame(words, ['A x begin', 'B x begin', 'A x end', 'C x begin', 'C x end', 'D x begin']);
  t.match(again.eventsAsked.at(-1), { since: 1002 });
});

t.test('[12.hub-service-restart] a rule that holds over a restart of a service is one event', async (t) => {
  const machine = await PlayedMachine.start(t);
  const clock = new FakeClock();
  const hub = await startHub(t, { a: { url: machine.url } }, {}, {}, clock);
  const asked = async (count: number) =>
    await until(async () => {
      await clock.advance(20);
      return machine.eventsAsked.length >= count;
    });
  const words = async (count: number) =>
    (await wordsOf(hub, count)).filter((each) => !each.startsWith('down')).join();
  await asked(1);
  machine.happens('A x', 'begin');
  machine.happens('B x', 'begin');
  machine.happens('wrong_keys', 'begin', { kind: 'access' });
  await wordsOf(hub, 3);
  // Its rules take their time to find what still lasts.
  machine.events.length = 0;
  machine.run = 'run2';
  machine.cut();
  await asked(2);
  const before = 'A x begin,B x begin,wrong_keys begin,wrong_keys end';
  t.equal(await words(6), before);
  machine.happens('A x', 'begin');
  machine.happens('C x', 'begin');
  t.equal(await words(7), `${before},C x begin`);
  await clock.advance(900_000);
  t.equal(await words(8), `${before},C x begin,B x end`, 'it has ended meanwhile');
  t.match((await listOf(hub)).events.at(-1), { text: 'Has ended: B x is 91, limit 90' });
});

t.test(
  '[12.hub-of-service] of a running service: what lasts when it is reached, and what comes',
  async (t) => {
    const history = new FakeHistory();
    const auth = { enabled: true, keys: KEYS };
    const service = await serveHere(t, fixtureHost(), { auth, history: { minutes: 60 } }, { history });
    history.notify(FAKE_EVENT);
    const entry = (name: string) => ({ url: service.baseUrl, key_file: { path: 'k', secret: keyOf(name) } });
    const hub = await startHub(t, { all: entry('all'), read: entry('read') });
    await wordsOf(hub, 1, 'all');
    await wordsOf(hub, 1, 'read');
    history.notify({ ...FAKE_EVENT, state: 'end', value: 1 });
    for (const machine of ['all', 'read']) {
      t.strictSame(await wordsOf(hub, 2, machine), ['busy cpu.load begin', 'busy cpu.load end']);
      const [begin] = (await listOf(hub)).events.filter((each) => each.machine === machine);
      const { processes: _, ...bare } = FAKE_MACHINE_EVENT;
      t.match(begin, machine === 'all' ? FAKE_MACHINE_EVENT : bare);
      t.equal(
        begin !== undefined && 'processes' in begin,
        machine === 'all',
        "by what the hub's key sees there",
      );
    }
  },
);

t.test('[12.hub-events-bounds] a hundred events of one machine last at most', async (t) => {
  const { machine, hub } = await start(t);
  for (let i = 0; i < 120; i++) machine.happens(`R s${i}`, 'begin');
  machine.happens('R s0', 'end');
  await wordsOf(hub, 101);
  t.equal((await listOf(hub)).open.length, 99);
});

const hook = (url: string) => ({ type: 'webhook', url, min_severity: 'info' }) as const;

t.test('[12.hub-notify] a machine with 12 open rules that dies is one message', async (t) => {
  const { received, url } = await receive(t);
  const notify = { targets: { hook: hook(url) }, batch_seconds: 3, grace_seconds: 0 };
  const state_path = path.join(t.testdir(), 'state');
  const { machine, hub } = await start(t, { notify, hub: { state_path } });
  for (let i = 0; i < 12; i++) machine.happens(`R s${i}`, 'begin');
  await wordsOf(hub, 12);
  machine.stop();
  await until(() => received.length > 0);
  await sleep(4000);
  const bodies = received.map(({ body }) => JSON.parse(body));
  t.match(
    bodies.map(({ commonLabels }) => commonLabels),
    [{ alertname: 'machine_down', instance: 'desk', machine: 'a', severity: 'critical' }],
  );
  t.equal(bodies.length, 1);
  await comeBack(t, machine);
  await until(() => received.length === 2);
  t.match(JSON.parse(received[1]?.body ?? ''), { status: 'resolved', commonLabels: { machine: 'a' } });
});

t.test(
  '[12.hub-notify-restart] a machine that is down is one message over a restart of the hub',
  async (t) => {
    const { received, url } = await receive(t);
    const notify = { targets: { hook: hook(url) }, batch_seconds: 0, grace_seconds: 0 };
    const config = { notify, hub: { state_path: path.join(t.testdir(), 'state') } };
    const { machine, hub } = await start(t, config);
    machine.stop();
    await until(() => received.length === 1);
    await hub.stop();
    const second = await startHub(t, { a: { url: machine.url, name: 'desk' } }, config);
    t.strictSame(await wordsOf(second, 1), ['down begin']);
    await comeBack(t, machine);
    // One whose answer the first hub did not wait for is sent again, with its id.
    const messages = () => new Map(received.map(({ id, body }) => [id, JSON.parse(body)]));
    await until(() => messages().size === 2);
    const [begin, end] = [...messages().values()];
    t.match([begin.status, end.status], ['firing', 'resolved']);
    t.equal(begin.groupKey, end.groupKey, 'of the same outage');
  },
);

t.test('[12.hub-mute] a machine is muted by its name, a rule by what has happened', async (t) => {
  const { received, url } = await receive(t);
  const notify = { targets: { hook: hook(url) }, batch_seconds: 0, grace_seconds: 0 };
  const { machine, hub } = await start(t, { notify });
  const mute = async (what: string, seconds = 60) =>
    (
      await ask(hub.port, '/api/events/mute', {
        method: 'POST',
        body: JSON.stringify({ what, seconds }),
        headers: { 'Content-Type': 'application/json' },
      })
    ).status;
  t.equal(await mute('R'), 404, 'no event has it');
  t.equal(await mute('desk'), 200);
  t.match((await listOf(hub)).mutes, [{ what: 'a' }]);
  machine.happens('R s', 'begin');
  await wordsOf(hub, 1);
  t.equal(await mute('R'), 200);
  t.equal(await mute('desk', 0), 200);
  machine.happens('S s', 'begin');
  await until(() => received.length > 0);
  t.match(JSON.parse(received[0]?.body ?? ''), { commonLabels: { alertname: 'S' } });
});

const fieldOf = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1] ?? '';
const eventIn = (text: string): MachineEvent => v.parse(machineEvent, JSON.parse(fieldOf(text, 'data')));

t.test('[12.hub-stream] a stream of all machines continues after Last-Event-ID', async (t) => {
  const { machine, hub } = await start(t);
  const open = (headers = {}) =>
    EventStream.openIn(t, hub.port, '/api/events', { Accept: 'text/event-stream', ...headers });
  const stream = await open();
  t.equal(fieldOf((await stream.next()).text, 'data'), '', 'nothing lasts');
  machine.happens('A x', 'begin');
  const first = eventIn((await stream.next()).text);
  t.match(first, { machine: 'a', subject: 'A x' });
  stream.close();
  machine.happens('B x', 'begin');
  machine.happens('A x', 'end');
  await wordsOf(hub, 3);
  const later = await open({ 'Last-Event-ID': String(first.id) });
  const missed = [eventIn((await later.next()).text), eventIn((await later.next()).text)];
  t.match(missed, [
    { subject: 'B x', state: 'begin' },
    { subject: 'A x', state: 'end' },
  ]);
  t.match((await (await open({ 'Last-Event-ID': '5' })).next()).text, /^id: 5\nevent: missing\n/);
});

t.test('[12.hub-all] hosts "*" follows the events of all machines, by what a key may see', async (t) => {
  const [a, b] = [await PlayedMachine.start(t), await PlayedMachine.start(t)];
  const auth = { enabled: true, keys: KEYS };
  const hub = await startHub(t, { a: { url: a.url }, b: { url: b.url } }, { auth });
  await until(() => a.eventsAsked.length > 0 && b.eventsAsked.length > 0);
  const client = async (name: string) => await HubClient.open(t, hub, '/api/ws', bearer(name));
  const [all, read, media] = [await client('all'), await client('read'), await client('media')];
  const subscribe = { hosts: '*', data: { topics: ['events'] } };
  for (const each of [all, read])
    t.match(await each.ask('subscribe', subscribe), { type: 'subscribed', data: { topics: ['events'] } });
  t.match((await media.ask('subscribe', subscribe)).data, { topics: [], forbidden: ['events'] });
  for (const [op, frame] of [
    ['subscribe', { hosts: '*', data: { topics: ['stats'] } }],
    ['subscribe', { hosts: '*', data: { topics: [] } }],
    ['get', { hosts: '*', data: { topics: ['events'] } }],
    ['power', { hosts: '*', data: { action: 'lock' } }],
    ['subscribe', { hosts: 'a*', data: { topics: ['events'] } }],
  ] as const)
    t.match((await all.ask(op, frame)).data, { code: 'INVALID_DATA' }, JSON.stringify([op, frame]));
  const processes = { cpu: [], memory: null, disk: null };
  a.happens('A x', 'begin', { processes });
  b.happens('B x', 'begin');
  const bySubject =
    (name: string) =>
    ({ type, data }: HubTold) =>
      type === 'event' && data['subject'] === name;
  const seen = await all.take(bySubject('A x'));
  t.match(seen.data, { machine: 'a', processes });
  t.notOk('host' in seen);
  t.match((await all.take(bySubject('B x'))).data, { machine: 'b' });
  t.notOk('processes' in (await read.take(bySubject('A x'))).data, 'the cause needs the scope processes');
  const listed = (await listOf(hub, '', bearer('read'))).events;
  t.match(listed.map(({ machine }) => machine).sort(), ['a', 'b']);
  t.notOk(listed.some((event) => 'processes' in event));
  t.strictSame((await all.ask('unsubscribe', { hosts: '*' })).data, { topics: [] });
  t.match((await read.ask('unsubscribe', {})).data, { topics: [] }, 'everything');
  a.happens('A x', 'end');
  await until(async () => (await listOf(hub, '', bearer('read'))).events.length === 3);
  const isEnd = ({ type, data }: HubTold) => type === 'event' && data['state'] === 'end';
  for (const each of [all, read, media]) t.notOk((await each.settle()).some(isEnd));
});

const auth = {
  enabled: true,
  keys: { read: keyWith('read', 'read'), both: keyWith('both', 'read', 'processes') },
};
const { processes: _, ...BARE } = FAKE_EVENT;
const EVENTS = { read: BARE, both: FAKE_EVENT };
const { processes: __, ...BARE_TOPIC } = FAKE_MACHINE_EVENT;
const topicOf = (expected: object) => (expected === BARE ? BARE_TOPIC : FAKE_MACHINE_EVENT);
const NAMES = ['read', 'both'] as const;
const HISTORY = { series: ['cpu.load'], since: FAKE_NOW - 60 };

t.test('[10.event-processes] events name processes only to keys with the scope `processes`', async (t) => {
  const history = new FakeHistory();
  const service = await serveHere(t, fixtureHost(), { auth, history: { minutes: 60 } }, { history });
  const entry = (name: string) => ({ url: service.baseUrl, key_file: { path: 'k', secret: keyOf(name) } });
  const hub = await startHub(t, { both: entry('both'), read: entry('read') }, { auth });
  const followers: { name: string; expected: object; take: () => Promise<unknown> }[] = [];
  for (const key of NAMES) {
    for (const [port, path, expected] of [
      [service.port, '/api', EVENTS[key]],
      [hub.port, '/api/hosts/both', EVENTS[key]],
      [hub.port, '/api/hosts/read', BARE],
    ] as const) {
      const name = `${key}: ${path}`;
      const headers = bearer(key);
      const isThere = async () =>
        (await ask(port, `${path}/history?since=${HISTORY.since}`, { headers })).status === 200;
      await until(isThere);
      const answer = jsonOf(await ask(port, `${path}/history?since=${HISTORY.since}`, { headers }));
      t.strictSame((answer as { events: unknown }).events, [expected], `${name}/history`);
      const socket = await SocketClient.openIn(t, port, { path: `${path}/ws`, headers });
      await socket.ask('subscribe', { topics: ['events'] }, 's');
      t.strictSame(
        (await socket.ask('history', HISTORY, 'h')).data['events'],
        [expected],
        `${name}: history`,
      );
      followers.push({ name, expected, take: async () => (await socket.take('event')).data });
    }
  }
  // A hub asks for a topic with its next message.
  const timer = setInterval(() => history.notify(FAKE_EVENT), 50);
  t.teardown(() => clearInterval(timer));
  for (const { name, expected, take } of followers) {
    const { id, machine, ...event } = Object(await take());
    t.strictSame(event, topicOf(expected), `${name}: event`);
    t.match([id, machine], [Number, String], name);
  }
});
