/** Watch rules that ship ready, and their events: in the log, to listeners, with what ran then. */
import t from 'tap';
import { Conditions } from '#src/history/conditions.js';
import { rulesIn } from '#src/history/rules.js';
import { Watch } from '#src/history/watch.js';
import type { HistoryEvent, ProcessUses } from '#src/wire/history.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';

const own = { series: 'disk.used_percent/*', above: 50, for_seconds: 10 };

/** The events of ten minutes and a bit with these values, a sample every 10 s. */
function eventsOf(values: Readonly<Record<string, number>>, watch: Parameters<typeof rulesIn>[0]) {
  const conditions = new Conditions();
  conditions.setRules(rulesIn(watch), 0);
  const points = Object.entries(values).map(([name, value]) => ({ name, unit: '%', value }));
  const events = [];
  for (let at = 0; at <= 620; at += 10)
    events.push(...conditions.step({ at, awake: at, gapSeconds: 25, points }));
  return events.map(({ at, rule, series }) => [at, rule, series]);
}

t.test('[12.ready-rules] each begins after its time, and not at its limit', async (t) => {
  const bad = {
    'disk.used_percent//srv': 90.1,
    'memory.pressure': 20.5,
    'cpu.load': 96,
    'cpu.temperature': 96,
    'clock.error': 16,
    'battery.charge/BAT0': 9,
    'disk.days_left//srv': 6.9,
    'drive.passed/sda': 0,
  };
  t.strictSame(eventsOf(bad, { defaults: true, rules: {} }), [
    [60, 'disk-full', 'disk.used_percent//srv'],
    [60, 'memory-pressure', 'memory.pressure'],
    [60, 'processor-hot', 'cpu.temperature'],
    [60, 'battery-low', 'battery.charge/BAT0'],
    [60, 'disk-filling', 'disk.days_left//srv'],
    [60, 'drive-failing', 'drive.passed/sda'],
    [600, 'processor-busy', 'cpu.load'],
    [600, 'clock-wrong', 'clock.error'],
  ]);
  const right = {
    'disk.used_percent//srv': 90,
    'memory.pressure': 20,
    'cpu.load': 95,
    'cpu.temperature': 95,
    'clock.error': 15,
    'battery.charge/BAT0': 10,
    'battery.health/BAT0': 1,
    'disk.days_left//srv': 7,
    'drive.passed/sda': 1,
  };
  t.strictSame(eventsOf(right, { defaults: true, rules: {} }), []);
  t.strictSame(eventsOf(bad, { defaults: false, rules: {} }), []);
});

t.test('[12.ready-rules] a rule of the configuration replaces one of its name', async (t) => {
  const full = { 'disk.used_percent//srv': 60 };
  t.strictSame(eventsOf(full, { defaults: true, rules: { 'disk-full': own } }), [
    [10, 'disk-full', 'disk.used_percent//srv'],
  ]);
  const rules = { mine: own };
  t.equal(rulesIn({ defaults: true, rules }), rulesIn({ defaults: true, rules }), 'one object each time');
  t.equal(rulesIn({ defaults: false, rules }), rules);
});

function setUp() {
  const clock = new FakeClock();
  const config = new FakeConfig();
  config.current = {
    ...config.current,
    watch: { defaults: false, rules: { hot: { series: 'cpu.load', above: 90, for_seconds: 10 } } },
  };
  const lines: string[] = [];
  const events: HistoryEvent[] = [];
  const running: { now: ProcessUses | null | undefined } = {
    now: { cpu: [{ name: 'burn', count: 1, value: 97 }], memory: [], disk: null },
  };
  const watch = new Watch({
    config,
    clock,
    log: { info: (line) => lines.push(line) },
    running: () => running.now,
  });
  const unlisten = watch.onEvent((event) => events.push(event));
  /** A sample with a load every 10 s, as without subscribers. */
  const sample = async (load: number | null) => {
    await clock.advance(10_000);
    watch.onPoints(clock.now() / 1000, [{ name: 'cpu.load', unit: '%', value: load }]);
  };
  return { watch, config, lines, events, running, sample, unlisten };
}

t.test('[3.watch-event] an event has its processes, and a line in the log', async (t) => {
  const { events, lines, sample, running, watch, unlisten } = setUp();
  await sample(95);
  t.equal(watch.isWaiting, true);
  t.strictSame(events, []);
  await sample(96);
  t.match(events, [{ rule: 'hot', state: 'begin', value: 96, processes: { cpu: [{ name: 'burn' }] } }]);
  t.strictSame(lines, ['watch rule hot begins: CPU load has been above 90 % for 10 s: 96 %']);
  running.now = undefined;
  await sample(10);
  await sample(11);
  t.equal(events.length, 2);
  t.notOk('processes' in (events[1] ?? {}), 'not while features.enable_processes is off');
  t.strictSame(lines[1], 'watch rule hot ends: CPU load is no longer above 90 %: 11 %');
  unlisten();
  for (const load of [95, 95, 95]) await sample(load);
  t.equal(events.length, 2);
});

t.test('[3.watch-gap] without subscribers a missing sample is not a gap', async (t) => {
  const { events, sample } = setUp();
  await sample(95);
  await sample(95);
  await sample(null);
  await sample(null);
  await sample(95);
  t.equal(events.length, 1);
  for (let i = 0; i < 4; i++) await sample(null);
  t.match(events[1], { state: 'end', value: null });
});

t.test('[3.watch-reload] a reload takes effect immediately', async (t) => {
  const { events, sample, config, watch } = setUp();
  await sample(95);
  await sample(95);
  config.current = { ...config.current, watch: { defaults: false, rules: {} } };
  watch.reconfigure();
  t.match(events, [{ state: 'begin' }, { state: 'end', value: null }]);
});
