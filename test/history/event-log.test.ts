/** Events in one form: numbers that only grow, those that last, what a client missed, and their sentences. */
import t from 'tap';
import { EventBook } from '#src/history/event-book.js';
import { logEvents } from '#src/history/event-log.js';
import { sentenceOf } from '#src/history/sentences.js';
import { configWith } from '../helpers/fakes/config-parts.ts';
import { FAKE_EVENT, FakeHistory } from '../helpers/fakes/history.ts';
import { noMutes } from './setup.ts';

const NOW = 1_795_249_000_000;

function start(nowMs = NOW) {
  const history = new FakeHistory();
  const clock = { now: nowMs };
  const rules = {
    busy: { series: 'cpu.load', above: 90, for_seconds: 30, severity: 'critical' },
    full: { series: 'disk.used_percent/*', above: 90, for_seconds: 30 },
  } as const;
  const config = { current: configWith({ watch: { rules } }) };
  const log = new EventBook({ mutes: noMutes(), unixMs: () => clock.now });
  logEvents({ history, config, machine: 'pc', book: log });
  const send = (part: Partial<typeof FAKE_EVENT> = {}) => {
    history.notify({ ...FAKE_EVENT, ...part });
    return log.last;
  };
  return { log, clock, send };
}

t.test('[12.event] a rule begins and ends: one subject, its times, limit and severity', async (t) => {
  const { log, send } = start();
  const heard: unknown[] = [];
  const stop = log.onEvent((event) => heard.push(event));
  const { at } = FAKE_EVENT;
  const id = send();
  const begun = {
    id,
    machine: 'pc',
    kind: 'rule',
    subject: 'busy cpu.load',
    severity: 'critical',
    state: 'begin',
    begin: at,
    end: null,
    value: 97.5,
    limit: 90,
    text: 'Processor load is 97.5 %, limit 90 %',
    processes: FAKE_EVENT.processes,
  };
  t.strictSame(log.open, [begun]);
  send({ at: at + 60, state: 'end', value: 12 });
  t.strictSame(log.open, []);
  t.strictSame(heard[0], begun);
  t.match(heard[1], { subject: 'busy cpu.load', state: 'end', begin: at, end: at + 60, limit: 90 });
  stop();
  send({ rule: 'full', series: 'disk.used_percent//srv', value: 91.26 });
  t.equal(heard.length, 2);
  t.match(log.open, [{ severity: 'warning', text: 'Disk /srv is 91.3 % full, limit 90 %' }]);
});

t.test('[12.event-ids] numbers grow within a millisecond, and over a restart', async (t) => {
  const { log, clock, send } = start();
  const ids = Array.from({ length: 5 }, () => send());
  t.strictSame(
    ids,
    [1, 2, 3, 4, 5].map((more) => NOW + more),
  );
  t.strictSame(
    log.since(ids[2]).events.map(({ id }) => id),
    ids.slice(3),
  );
  t.strictSame(log.since(ids[4]), { events: [], isIncomplete: false });
  t.equal(log.since(undefined).events.length, 5);
  clock.now += 1000;
  t.equal(send(), NOW + 1000);
  clock.now -= 60_000;
  t.equal(send(), NOW + 1001, 'a clock that is set back repeats none');
  const later = start(NOW + 2000);
  t.match(
    later.log.since(ids[2]),
    { isIncomplete: true },
    'those of before the restart are gone, and that is said',
  );
  t.ok(later.send() > (ids[4] ?? 0));
});

t.test('[12.event-bounds] a thousand are kept; who missed more is told', async (t) => {
  const { log, send } = start();
  const first = send();
  for (let i = 0; i < 1000; i++) send({ state: i % 2 === 0 ? 'end' : 'begin' });
  t.equal(log.since(undefined).events.length, 1000);
  t.match(log.since(first - 1), { isIncomplete: true });
  t.match(log.since(first), { isIncomplete: false });
  t.equal(log.since(first).events.length, 1000);
  t.match(
    log.since(log.last + 1),
    { isIncomplete: true },
    'a number that is still to come is from elsewhere',
  );
});

t.test('[12.sentence] what people call it, its value and its limit', async (t) => {
  for (const [series, value, state, rule, expected] of [
    [
      'disk.used_percent//srv/media',
      91.04,
      'begin',
      { above: 90 },
      'Disk /srv/media is 91 % full, limit 90 %',
    ],
    ['disk.used_percent//', 80, 'end', { above: 90 }, 'Disk / is back to 80 % full, limit 90 %'],
    ['cpu.temperature', 88, 'begin', { above: 85 }, 'Processor temperature is 88 °C, limit 85 °C'],
    ['battery.charge/BAT0', 9, 'begin', { below: 10 }, 'Battery BAT0 is 9 %, limit 10 %'],
    [
      'disk.days_left//srv',
      5.23,
      'begin',
      { below: 7 },
      'Disk /srv will be full in 5.2 days at the rate of the last days',
    ],
    ['disk.days_left//srv', null, 'end', { below: 7 }, 'Disk /srv no longer fills up as fast'],
    [
      'drive.passed/sda',
      0,
      'begin',
      { below: 1 },
      'Drive sda expects to fail: copy its data while it can be read',
    ],
    ['drive.passed/sda', 1, 'end', { below: 1 }, 'Drive sda no longer expects to fail'],
    ['drive.passed/sda', null, 'begin', { missing: true }, 'as recorded'],
    ['clock.error', 16, 'begin', { above: 15 }, 'The clock is not synchronized, and may be wrong'],
    ['clock.error', 1.26, 'begin', { above: 1 }, 'The clock may be wrong by 1.3 s'],
    ['clock.error', 0.02, 'end', { above: 15 }, 'The clock is synchronized'],
    ['network.receive', 9e6, 'begin', { above: 1e6 }, 'as recorded'],
    ['cpu.load', null, 'end', { above: 90 }, 'as recorded'],
    ['cpu.load', 95, 'begin', undefined, 'as recorded'],
  ] as const)
    t.equal(sentenceOf({ series, value, state, text: 'as recorded' }, rule), expected);
});
