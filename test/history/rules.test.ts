/** The rules that ship ready: what they find, and how the configuration changes them. */
import t from 'tap';
import { Conditions } from '#src/history/conditions.js';
import { rulesIn } from '#src/history/rules.js';

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
