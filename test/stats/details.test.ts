/** The details: sensors, batteries, processes, limits; their failures and series; the power of the processor's packages. */
import t from 'tap';
import type { BatteryCounters, CpuThrottling, LimitCounters, SensorCounters } from '#src/host/details.js';
import type { Counters, EnergyCounters } from '#src/host/host.js';
import { type Baseline, NO_BASELINE } from '#src/stats/baseline.js';
import { DETAIL_KEYS, DETAILS, deriveExtras, detailSeries, failedParts } from '#src/stats/details.js';
import { deriveWatts } from '#src/stats/energy.js';
import { deriveSample } from '#src/stats/sample.js';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { at, BATTERY, cpu } from './literals.ts';

const FACTS = { interval_seconds: 2, host: 'box' };
const NO_DETAILS = { sensors: [], batteries: [], drives: [], limits: null };
const extrasOf = (counters: Partial<Counters>) => deriveExtras(FACTS, at(1, counters));

const sensor = (kind: SensorCounters['kind'], value: number | null): SensorCounters => ({
  driver: 'chip',
  chip: 'chip',
  label: `chip ${kind}`,
  kind,
  value,
  failure: null,
});

function battery(change: Partial<BatteryCounters>) {
  const [first] = extrasOf({ batteries: [{ ...BATTERY, ...change }] }).batteries;
  if (first === undefined) throw new Error('no battery');
  return first;
}

t.test('[3.sensors] each kind has its own unit and number of decimals', async (t) => {
  const { sensors } = extrasOf({
    sensors: [
      sensor('temperature', 51.26),
      sensor('temperature', -0.02),
      sensor('fan', 1204.6),
      sensor('voltage', -12.09649),
      sensor('power', 2.5049),
      sensor('power', null),
    ],
  });
  t.strictSame(
    sensors.map(({ value, unit }) => [value, unit]),
    [
      [51.3, '°C'],
      [0, '°C'],
      [1205, 'RPM'],
      [-12.096, 'V'],
      [2.5, 'W'],
      [null, 'W'],
    ],
  );
  t.notOk(Object.is(sensors[1]?.value, -0));
  t.strictSame(extrasOf({}).sensors, []);
  t.strictSame(extrasOf({ sensors: null }).sensors, [], 'the reading failed');
});

t.test('[3.batteries] a battery that reports energy', async (t) => {
  const energy = { energyWh: 40, energyFullWh: 50, energyDesignWh: 57, powerWatts: 8.04 };
  t.strictSame(battery({ ...energy, percent: 79 }), {
    name: 'BAT0',
    percent: 79,
    state: 'discharging',
    power_watts: 8,
    seconds_left: Math.round((40 / 8.04) * 3600),
    health_percent: 87.7,
  });
  t.match(battery({ ...energy, state: 'charging' }), {
    percent: 80,
    seconds_left: Math.round((10 / 8.04) * 3600),
  });
  for (const state of ['full', 'not_charging', 'unknown'] as const)
    t.equal(battery({ ...energy, state }).seconds_left, null, state);
});

t.test('a battery that reports charge', async (t) => {
  const charge = { chargeAh: 3, chargeFullAh: 5, chargeDesignAh: 6, currentAmps: 1.5, voltageVolts: 8 };
  t.match(battery(charge), { percent: 60, power_watts: 12, seconds_left: 7200, health_percent: 83.3 });
  t.match(battery({ ...charge, state: 'charging' }), { power_watts: 12, seconds_left: 4800 });
  t.match(battery({ ...charge, voltageVolts: null }), { power_watts: null, seconds_left: 7200 });
});

t.test('no current: true while full or idle, not measured while discharging', async (t) => {
  const idle = { energyWh: 40, energyFullWh: 50, powerWatts: 0 };
  t.equal(battery({ ...idle, state: 'full' }).power_watts, 0);
  t.match(battery({ ...idle, state: 'discharging' }), { power_watts: null, seconds_left: null });
  t.match(battery({ ...idle, state: 'charging' }), { power_watts: 0, seconds_left: null });
});

t.test(
  "[3.battery-time] the kernel's own time, otherwise no more than a full charge at that rate",
  async (t) => {
    // Asahi Linux: energy_now is 6.5 times energy_full.
    const asahi = {
      percent: 100,
      energyWh: 388.3638,
      energyFullWh: 59.565,
      energyDesignWh: 69.6,
      chargeAh: 34.067,
      chargeFullAh: 5.225,
      voltageVolts: 12.612,
      powerWatts: 5.1,
      currentAmps: 0.405,
    };
    t.equal(battery({ ...asahi, secondsToEmpty: 42_000 }).seconds_left, 42_000);
    t.equal(battery(asahi).seconds_left, 42_046, '59.565 Wh at 5.1 W');
    t.equal(battery({ ...asahi, state: 'charging' }).seconds_left, null, 'charging above 100 %');
    t.equal(battery({ ...asahi, state: 'charging', secondsToFull: 600 }).seconds_left, 600);
    const charge = { chargeAh: 6, chargeFullAh: 5, currentAmps: 2.5 };
    t.equal(battery(charge).seconds_left, 7200, 'a charge above full');
    t.equal(battery({ ...charge, chargeAh: 5, state: 'charging' }).seconds_left, 0, 'full');
    const level = { energyWh: 40, energyFullWh: 50, powerWatts: 8 };
    t.equal(
      battery({ ...level, secondsToEmpty: 30 * 86_400 }).seconds_left,
      18_000,
      'an absurd time is none',
    );
    t.equal(battery({ ...level, powerWatts: 0, currentAmps: 0.8, voltageVolts: 10 }).seconds_left, 18_000);
  },
);

t.test("the battery's own time where there is no other; an absurd time is unknown", async (t) => {
  const times = { secondsToEmpty: 1800, secondsToFull: 900 };
  t.equal(battery(times).seconds_left, 1800);
  t.equal(battery({ ...times, state: 'charging' }).seconds_left, 900);
  t.equal(battery({ ...times, state: 'full' }).seconds_left, null);
  t.equal(battery({ energyWh: 40, powerWatts: 0.001 }).seconds_left, null, 'years');
  t.equal(battery({ energyWh: 55, energyFullWh: 50, powerWatts: 5, state: 'charging' }).seconds_left, null);
});

t.test('[3.unknown-battery] only the name of an unreadable battery is known', async (t) => {
  t.strictSame(battery({ state: null, failure: 'EIO' }), {
    name: 'BAT0',
    percent: null,
    state: 'unknown',
    power_watts: null,
    seconds_left: null,
    health_percent: null,
  });
  t.equal(battery({ energyFullWh: 60, energyDesignWh: 57 }).health_percent, 100, 'new ones hold more');
});

const RANGE = 262_143_328_850;
const energy = (seconds: number, ...microjoules: readonly number[]): EnergyCounters => ({
  takenAtNs: seconds * 1e9,
  zones: microjoules.map((count, index) => ({
    name: `package-${index}`,
    microjoules: count,
    rangeMicrojoules: RANGE,
  })),
  failure: null,
});

t.test('[3.energy] watts between two readings of the energy, all packages together', async (t) => {
  t.equal(deriveWatts(energy(10, 1e9), energy(12, 1.05e9)), 25);
  t.equal(deriveWatts(energy(10, 1e9, 5e9), energy(12, 1.05e9, 5.2e9)), 125);
  t.equal(deriveWatts(energy(10, 1e9), energy(12, 1e9)), 0, 'a package that sleeps');
  t.equal(deriveWatts(energy(0, RANGE - 30e6), energy(2, 20e6)), 25, 'the counter came round');
});

t.test('[3.energy-honest] unknown where the counters do not show it', async (t) => {
  t.equal(deriveWatts(undefined, energy(12, 1e9)), null, 'a first reading');
  t.equal(deriveWatts(energy(10, 1e9), null), null);
  t.equal(deriveWatts(energy(10), energy(12)), null, 'no package');
  t.equal(deriveWatts(energy(10, 1e9), energy(10, 1e9)), null, 'the same answer twice');
  t.equal(deriveWatts(energy(10, 1e9), energy(9, 2e9)), null, 'time went back');
  t.equal(
    deriveWatts(energy(0, 100e9), energy(2, 5e6)),
    null,
    'a reset, not a wraparound: no package draws that much',
  );
  t.equal(deriveWatts(energy(0, 1e9), energy(300, 2e9)), null, 'it may have come round more than once');
  t.equal(deriveWatts(energy(0, 1e9), energy(2, 1.05e9, 5e9)), null, 'a package that was not there');
  t.equal(
    deriveWatts(energy(0, 1e9), { ...energy(2, 1.05e9), failure: 'EACCES' }),
    null,
    'only some of them',
  );
});

t.test('[3.energy-honest] a sample: null first, then watts; across a suspend null', async (t) => {
  const reading = (seconds: number, microjoules: number, slept = 0) =>
    at(seconds, { cpu: cpu({ idle: seconds }, { energy: energy(seconds - slept, microjoules) }) }, slept);
  const first = deriveSample(NO_BASELINE, reading(10, 1e9), FACTS);
  t.equal(first.sample.cpu?.detail?.power_watts, null);
  // A reading without detail in between: the power is measured from the last reading with detail.
  const plain = deriveSample(first.baseline, at(11, { cpu: cpu({ idle: 11 }) }));
  const second = deriveSample(plain.baseline, reading(12, 1.06e9), FACTS);
  t.equal(second.sample.cpu?.detail?.power_watts, 30);
  const third = deriveSample(second.baseline, reading(3614, 1.07e9, 3600), FACTS);
  t.equal(third.sample.cpu?.detail?.power_watts, null, 'slept for an hour');
  const fourth = deriveSample(third.baseline, reading(3616, 1.09e9, 3600), FACTS);
  t.equal(fourth.sample.cpu?.detail?.power_watts, 10);
});

t.test('failures: one reason per chip and battery', async (t) => {
  const broken = { ...sensor('fan', null), failure: 'EIO' };
  const counters = at(1, {
    cpu: cpu({}, { energy: { ...energy(1), failure: 'EACCES' } }),
    sensors: [sensor('power', 1), broken, { ...broken, failure: 'another' }],
    batteries: [BATTERY, { ...BATTERY, name: 'BAT1', failure: 'ENODEV' }],
  });
  t.strictSame(
    [...failedParts(counters)],
    [
      ['cpu power', 'EACCES'],
      ['sensors of chip', 'EIO'],
      ['battery BAT1', 'ENODEV'],
    ],
  );
  t.equal(failedParts(at(1)).size, 0);
});

/** All numbers, booleans as 0 and 1; the lists that `skipped` names are left out. */
function numbersIn(value: unknown, skipped: RegExp): readonly number[] {
  if (typeof value === 'number' || typeof value === 'boolean') return [Number(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([key]) => !skipped.test(key))
    .flatMap(([, part]) => numbersIn(part, skipped));
}

t.test(
  'every number of a detail is in its series, except those of processes, which come and go',
  async (t) => {
    const share = { name: 'node', pid: 1, memory: 1, memory_mb: 1, cpu_time: 1, cpu: 1 };
    const processes = { count: 311, running: 3, top_cpu: [share], top_memory: [share], age_seconds: 0.3 };
    const counters = fixtureHost().readCounters(0, true, 0);
    const details = deriveExtras({ ...FACTS, processes }, counters);
    for (const key of DETAIL_KEYS) {
      const { [key]: payload } = details;
      t.ok(numbersIn(payload, /^top_/).length > 0, `the fixture has ${key}`);
      const series = detailSeries({ ...NO_DETAILS, [key]: payload });
      t.strictSame(
        series.flatMap(({ value }) => (value === null ? [] : [value])),
        numbersIn(payload, /^top_/),
        key,
      );
    }
    const all = detailSeries(details);
    t.equal(
      new Set(all.map(({ name, of }) => `${name} ${of}`)).size,
      all.length,
      'no two have the same name',
    );
    for (const { name } of all) t.match(name, /^[a-z]+(_[a-z]+)*$/);
    t.strictSame(detailSeries({ ...NO_DETAILS, processes: null }), []);
  },
);

t.test('a row derives its own key, in the order of the payload', async (t) => {
  t.strictSame(Object.keys(extrasOf({})), [
    'interval_seconds',
    'window_seconds',
    'host',
    ...Object.keys(NO_DETAILS),
  ]);
  t.strictSame(Object.keys(deriveExtras({ ...FACTS, processes: null }, at(1))), [
    ...['interval_seconds', 'window_seconds', 'host'],
    ...Object.keys(DETAILS),
  ]);
});
const GIB = 1024 ** 3;

const counted = (periods: number, throttledPeriods: number, group = '/box'): CpuThrottling => ({
  group,
  periods,
  throttledPeriods,
});

const limits = (change: Partial<LimitCounters> = {}): LimitCounters => ({
  memoryBytes: GIB,
  memoryUsedBytes: GIB / 4,
  cpus: 1.5,
  throttling: counted(100, 10),
  failure: null,
  ...change,
});

const read = (seconds: number, change: Partial<LimitCounters> | null) =>
  at(seconds, { limits: change && limits(change) });

/** Returns the limits that the sample of the last reading shows; all have detail. */
function shown(...changes: readonly (Partial<LimitCounters> | null)[]) {
  let baseline: Baseline = NO_BASELINE;
  let last: ReturnType<typeof deriveSample> | undefined;
  for (const [index, change] of changes.entries()) {
    last = deriveSample(baseline, read(1 + 2 * index, change), FACTS);
    baseline = last.baseline;
  }
  return last?.sample.extras?.limits;
}

const throttled = (...readings: readonly (CpuThrottling | null)[]) =>
  shown(...readings.map((throttling) => ({ throttling })))?.throttled_percent;

t.test('[3.limits] the limits of the service; null where nothing limits it', async (t) => {
  t.strictSame(shown({}), {
    memory_bytes: GIB,
    memory_used_bytes: GIB / 4,
    cpus: 1.5,
    throttled_percent: null,
  });
  t.equal(shown({ cpus: 1 / 3 })?.cpus, 0.333);
  t.match(shown({ memoryBytes: null, memoryUsedBytes: null }), { memory_bytes: null, cpus: 1.5 });
  t.equal(shown({ memoryBytes: null, memoryUsedBytes: null, cpus: null, throttling: null }), null);
  t.equal(shown(null), null, 'not read');
});

t.test('[3.limits-throttled] the share of the periods in which the quota was used up', async (t) => {
  t.equal(throttled(counted(100, 10), counted(120, 15)), 25);
  t.equal(throttled(counted(100, 10), counted(120, 10)), 0);
  t.equal(throttled(counted(100, 10), counted(120, 30)), 100);
  t.equal(throttled(counted(100, 10)), null, 'a first reading');
  t.equal(throttled(counted(100, 10), counted(100, 10)), null, 'no period has ended');
  t.equal(throttled(counted(100, 10), counted(5, 2)), null, 'counted from 0 again');
  t.equal(throttled(counted(100, 10), counted(50, 20)), null, 'fewer periods');
  t.equal(throttled(counted(100, 10), counted(120, 15, '/other')), null, 'of another group');
  t.equal(throttled(null, counted(120, 15)), null, 'the limit is new');
  t.equal(throttled(counted(100, 10), null), null, 'the limit is gone');
});

t.test('[3.limits-throttled] a reading without detail in between changes nothing', async (t) => {
  const first = deriveSample(NO_BASELINE, read(1, {}), FACTS);
  const plain = deriveSample(first.baseline, at(2, { cpu: cpu({ idle: 1 }) }));
  const last = deriveSample(plain.baseline, read(3, { throttling: counted(140, 20) }), FACTS);
  t.equal(last.sample.extras?.limits?.throttled_percent, 25);
});

t.test('[3.limits-unreadable] the reason is a failure of its own', async (t) => {
  t.strictSame([...failedParts(read(1, { failure: 'EACCES' }))], [['limits', 'EACCES']]);
  t.equal(failedParts(read(1, {})).size, 0);
});
