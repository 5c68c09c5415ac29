/** The cpu section: shares of time between two readings. */
import t from 'tap';
import { deriveCpuDetail, deriveCpuStats } from '#src/stats/cpu.js';
import { cpu, times } from './literals.ts';

t.test('[3.cpu] the load is all time that was neither idle nor waiting for disks', async (t) => {
  const before = cpu({ user: 1000, idle: 5000, iowait: 300 });
  const after = cpu({ user: 1030, nice: 5, system: 10, idle: 5140, iowait: 310, irq: 3, steal: 2 });
  // 30 + 5 + 10 + 3 + 2 = 50 of 200
  t.equal(deriveCpuStats(before, after).current_load, 25);
  t.strictSame(deriveCpuDetail(before, undefined, after).breakdown, {
    user: 15,
    system: 5,
    nice: 2.5,
    iowait: 5,
    irq: 1.5,
    steal: 1,
    idle: 70,
  });
});

t.test('[3.cpu] one decimal, 0 to 100', async (t) => {
  const load = (busy: number, idle: number) =>
    deriveCpuStats(cpu({}), cpu({ user: busy, idle })).current_load;
  t.equal(load(1, 2), 33.3);
  t.equal(load(2, 1), 66.7);
  t.equal(load(7, 0), 100);
  t.equal(load(0, 7), 0);
  t.equal(load(1, 1999), 0.1);
});

t.test('[3.clamped] a counter that goes backwards counts as unchanged', async (t) => {
  const before = cpu({ user: 100, idle: 1000, iowait: 50 });
  const after = cpu({ user: 150, idle: 1050, iowait: 20 });
  t.equal(deriveCpuStats(before, after).current_load, 50);
  const all = deriveCpuDetail(after, undefined, before);
  t.equal(all.current_load, 0, 'only waiting went on');
  t.equal(deriveCpuStats(cpu({ user: 100, idle: 100 }), cpu({ user: 110, idle: 90 })).current_load, 100);
  t.strictSame(deriveCpuDetail(before, undefined, before).current_load, null, 'no time has passed');
  t.equal(deriveCpuDetail(before, undefined, before).breakdown, null);
});

t.test('[3.cpu-jump] an interval in which a column jumps has no load', async (t) => {
  const before = cpu({ user: 1000, idle: 5000, iowait: 300 });
  const grown = { user: 1030, idle: 5140, iowait: 310 };
  const columns = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'steal'] as const;
  for (const column of columns)
    for (const jump of [2 ** 63, 2 ** 64 - 1, 2 ** 62, 1_844_674_407_370]) {
      const after = cpu({ ...grown, [column]: jump });
      const name = `${column} jumps by ${jump}`;
      t.equal(deriveCpuDetail(before, undefined, after).current_load, null, name);
      t.equal(deriveCpuDetail(before, undefined, after).breakdown, null, name);
      t.equal(deriveCpuStats(before, after).current_load, 0, name);
      const core = { index: 0, ...after.total };
      t.strictSame(
        deriveCpuDetail(undefined, [{ index: 0, ...before.total }], cpu({}, { cores: [core] })).cores,
        [null],
        name,
      );
      t.equal(deriveCpuDetail(after, undefined, before).current_load === 100, false, `${name}, and back`);
    }
  const steal = 1_844_674_407_370;
  const jumped = cpu({ user: 1000, idle: 5000, steal });
  t.equal(
    deriveCpuDetail(jumped, undefined, cpu({ user: 1050, idle: 5050, steal })).current_load,
    50,
    'afterwards',
  );
  // A large machine with ticks of 100 ns, and the first minutes after the start.
  const long = cpu({ user: 8e15, idle: 8e15 });
  t.equal(deriveCpuDetail(long, undefined, cpu({ user: 8.001e15, idle: 8.001e15 })).current_load, 50);
  t.equal(
    deriveCpuDetail(cpu({ idle: 10 }), undefined, cpu({ user: 60_000, idle: 60_010 })).current_load,
    50,
  );
});

t.test('[3.unknown] an unreadable value is 0 by default and null in detail', async (t) => {
  const first = cpu({ user: 1 });
  t.strictSame(deriveCpuStats(undefined, first), { current_load: 0, current_temp: 0, current_speed: 0 });
  const expected = { current_load: null, current_temp: null, current_speed: null, temperature: null };
  t.match(deriveCpuDetail(undefined, undefined, first), {
    ...expected,
    breakdown: null,
    load_average: null,
    power_watts: null,
    pressure: null,
  });
  t.strictSame(deriveCpuStats(first, null), { current_load: 0, current_temp: 0, current_speed: 0 });
  t.match(deriveCpuDetail(first, undefined, null), { ...expected, cores: [], speeds: [] });
});

t.test('[3.cpu] temperature with one decimal, speed in GHz', async (t) => {
  const after = cpu({}, { temperatureCelsius: 63.25, speedHz: 3_912_202_000 });
  t.strictSame(deriveCpuStats(undefined, after), {
    current_load: 0,
    current_temp: 63.3,
    current_speed: 3.912,
  });
  const cold = cpu({}, { temperatureCelsius: -7.5, speedHz: 0 });
  t.strictSame(deriveCpuStats(undefined, cold).current_temp, 0, 'no number is negative by default');
  t.equal(deriveCpuDetail(undefined, undefined, cold).temperature, -7.5, 'a board outdoors');
  t.equal(deriveCpuDetail(undefined, undefined, cold).current_speed, 0, 'all cores sleep: a true 0');
});

t.test('[3.detail-cpu] cores are matched by number: a core that appears has no load yet', async (t) => {
  const core = (index: number, user: number, idle: number) => ({ index, ...times({ user, idle }) });
  const before = [core(0, 0, 0), core(2, 0, 0)];
  const after = cpu(
    {},
    { cores: [core(0, 1, 3), core(1, 5, 5), core(2, 1, 1)], coreSpeedsHz: [1e9, null, 2e9] },
  );
  t.strictSame(deriveCpuDetail(undefined, before, after).cores, [25, null, 50]);
  t.strictSame(deriveCpuDetail(undefined, undefined, after).cores, [null, null, null]);
  t.strictSame(deriveCpuDetail(undefined, before, after).speeds, [1, null, 2]);
});
