/** Events that no rule reports: what a start finds, keys that are refused often, and a history that cannot be written. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { EventBook } from '#src/history/event-book.js';
import { logEvents } from '#src/history/event-log.js';
import { Incidents } from '#src/history/incidents.js';
import type { EventList } from '#src/wire/events.js';
import type { HistoryEvent, HistoryMark } from '#src/wire/history.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { noMutes } from './setup.ts';

const NOW = 1_795_249_000;
const MINUTE_MS = 60_000;

function setUp() {
  const clock = new FakeClock();
  const events: HistoryEvent[] = [];
  const unixMs = () => NOW * 1000 + clock.now();
  const incidents = new Incidents({ clock, unixMs, report: (event) => events.push(event) });
  const begun = clock.now();
  return { clock, events, incidents, nowSeconds: () => NOW + clock.now() / 1000, begun };
}

const mark = (kind: HistoryMark['kind'], at: number, seconds: number | null = null): HistoryMark => ({
  at,
  kind,
  seconds,
  text: `${kind}.`,
});

t.test(
  '[12.machine-events] a crash began when it was last alive, and lasts until the machine is stable',
  async (t) => {
    const { clock, events, incidents, nowSeconds } = setUp();
    incidents.onMarks([mark('crash', NOW - 300, 300), mark('boot', NOW - 20), mark('start', NOW)]);
    t.strictSame(events, [
      {
        at: NOW - 300,
        kind: 'machine',
        rule: 'crashed',
        state: 'begin',
        series: '',
        value: null,
        text: 'crash.',
      },
    ]);
    await clock.advance(4 * MINUTE_MS);
    t.equal(events.length, 1);
    await clock.advance(MINUTE_MS);
    t.match(events.slice(1), [{ rule: 'crashed', state: 'end', at: nowSeconds(), text: 'crash.' }]);
    incidents.close();
  },
);

t.test(
  '[12.machine-events] a restart in between; nothing for an ordinary start, a sleep or a clock that was set',
  async (t) => {
    for (const [marks, expected] of [
      [[mark('start', NOW)], []],
      [[mark('boot', NOW - 20), mark('start', NOW)], ['restarted']],
      [[mark('clock', NOW, -3600), mark('suspend', NOW, 5)], []],
    ] as const) {
      const { events, incidents } = setUp();
      incidents.onMarks(marks);
      t.strictSame(
        events.map(({ rule }) => rule),
        expected,
      );
      incidents.close();
    }
  },
);

t.test('[12.access-events] many wrong keys are one event, until they are rare', async (t) => {
  const { clock, events, incidents } = setUp();
  const wrong = (count: number) => {
    for (let i = 0; i < count; i++) incidents.onWrongKey('192.0.2.7');
  };
  wrong(19);
  await clock.advance(10 * MINUTE_MS);
  wrong(19);
  t.strictSame(events, [], 'a client that tries every half a minute with an old key');
  wrong(1000);
  t.match(events, [
    {
      kind: 'access',
      rule: 'wrong_keys',
      state: 'begin',
      text: '20 requests with a wrong key within 10 min, the last one from 192.0.2.7',
    },
  ]);
  await clock.advance(9 * MINUTE_MS);
  wrong(20);
  await clock.advance(10 * MINUTE_MS);
  t.equal(events.length, 1, 'it goes on');
  await clock.advance(11 * MINUTE_MS);
  t.match(events.slice(1), [{ rule: 'wrong_keys', state: 'end' }]);
  wrong(20);
  t.equal(events.length, 3, 'and may begin again');
  incidents.close();
});

t.test('[12.storage-events] a history that cannot be written', async (t) => {
  const { events, incidents } = setUp();
  incidents.onPause(undefined);
  incidents.onPause('the disk is full');
  incidents.onPause('the disk is still full');
  incidents.onPause(undefined);
  t.match(events, [
    {
      kind: 'storage',
      rule: 'history',
      state: 'begin',
      text: 'Recording on disk is paused: the disk is full',
    },
    { kind: 'storage', state: 'end', text: 'Recording on disk continues' },
  ]);
  t.equal(events.length, 2);
});

t.test(
  '[12.event-kinds] in the list of events each has its kind, its subject and its severity',
  async (t) => {
    const history = new FakeHistory();
    const rules = {
      crashed: { series: 'cpu.load', above: 1, for_seconds: 1, severity: 'critical' },
    } as const;
    const config = { current: configWith({ watch: { rules } }) };
    const log = new EventBook({ mutes: noMutes(), unixMs: () => NOW * 1000 });
    logEvents({ history, config, machine: 'pc', book: log });
    const event = { at: NOW, state: 'begin', series: '', value: null, text: 'as it is' } as const;
    history.notify({ ...event, kind: 'machine', rule: 'crashed' });
    history.notify({ ...event, kind: 'machine', rule: 'restarted' });
    history.notify({ ...event, rule: 'crashed', series: 'cpu.load' });
    t.match(log.open, [
      {
        kind: 'machine',
        subject: 'crashed',
        severity: 'warning',
        text: 'as it is',
        limit: null,
        value: null,
      },
      { kind: 'machine', subject: 'restarted', severity: 'info' },
      { kind: 'rule', subject: 'crashed cpu.load', severity: 'critical', limit: 1 },
    ]);
  },
);

t.test('[12.access-events] a service lists them', async (t) => {
  const { port } = await serveHere(t, fixtureHost(), {
    auth: { enabled: true, api_key: 'a'.repeat(43) },
    history: { minutes: 60 },
  });
  const asked = (key: string) => ask(port, '/api/events', { headers: { Authorization: `Bearer ${key}` } });
  for (let i = 0; i < 20; i++) t.equal((await asked('b'.repeat(43))).status, 401);
  const { open } = jsonOf(await asked('a'.repeat(43))) as EventList;
  t.match(open, [{ kind: 'access', subject: 'wrong_keys', state: 'begin', severity: 'warning' }]);
});
