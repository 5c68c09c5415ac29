/** The cpu, gpu and memory sections. */
import t from 'tap';
import { deriveCpuDetail, deriveCpuStats } from '#src/stats/cpu.js';
import { deriveGpuDetail, deriveGpuStats } from '#src/stats/gpu.js';
import { deriveMemoryDetail, deriveMemoryStats } from '#src/stats/memory.js';
import { cpu, gpu, memory, times } from './literals.ts';

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

const MIB = 1024 ** 2;

t.test('[3.gpu-null] no device, or none that could be read, is null in both forms', async (t) => {
  for (const none of [[], null]) {
    t.equal(deriveGpuStats(none), null);
    t.equal(deriveGpuDetail(none), null);
  }
});

t.test('[3.gpu] [3.unknown] the first device; unknown is 0 by default and null in detail', async (t) => {
  const known = gpu({ loadPercent: 12.34, temperatureCelsius: 61, memoryUsedBytes: 1.5 * MIB });
  t.strictSame(deriveGpuStats([known, gpu()]), { current_load: 12.3, current_temp: 61, current_memory: 2 });
  t.strictSame(deriveGpuStats([gpu(), known]), { current_load: 0, current_temp: 0, current_memory: 0 });
  t.match(deriveGpuDetail([gpu(), known]), { current_load: null, current_temp: null, current_memory: null });
});

t.test('[3.detail-gpu] every device, each with load, temperature and memory of its own', async (t) => {
  const second = gpu({
    name: 'B',
    loadPercent: 99.96,
    memoryUsedBytes: 0,
    memoryTotalBytes: 8192 * MIB,
    powerWatts: 70.25,
    fanPercent: 33,
    clockMhz: 1875,
    isAsleep: true,
  });
  const detail = deriveGpuDetail([gpu({ name: 'A' }), second]);
  t.match(detail, { name: 'A', vendor: 'Maker', memory_total: null, asleep: false });
  t.strictSame(detail?.devices[1], {
    name: 'B',
    vendor: 'Maker',
    load: 100,
    temperature: null,
    memory_used: 0,
    memory_total: 8192,
    power_watts: 70.3,
    fan_percent: 33,
    clock_mhz: 1875,
    asleep: true,
  });
});

t.test('[3.memory] used + free = total', async (t) => {
  t.strictSame(deriveMemoryStats(memory()), { used: 600, free: 400, used_percent: 60 });
  const third = memory({ totalBytes: 3, availableBytes: 2 });
  t.strictSame(deriveMemoryStats(third), { used: 1, free: 2, used_percent: 33.3 });
  const odd = memory({ totalBytes: 10, availableBytes: 12 });
  t.strictSame(deriveMemoryStats(odd), { used: 0, free: 10, used_percent: 0 });
  t.strictSame(deriveMemoryStats(memory({ totalBytes: 0, availableBytes: 0 })).used_percent, 0);
});

t.test('[3.detail-memory] swap: none is none used, unknown is null', async (t) => {
  const swap = (total: number | null, free: number | null) =>
    deriveMemoryDetail(memory({ swapTotalBytes: total, swapFreeBytes: free })).swap;
  t.strictSame(swap(0, 0), { total: 0, used: 0, free: 0, used_percent: 0 });
  t.strictSame(swap(8, 6), { total: 8, used: 2, free: 6, used_percent: 25 });
  t.strictSame(swap(8, 9)?.used, 0);
  t.equal(swap(null, 6), null);
  t.equal(swap(8, null), null);
});

t.test('[3.unknown] a section that could not be read', async (t) => {
  t.strictSame(deriveMemoryStats(null), { used: 0, free: 0, used_percent: 0 });
  for (const value of Object.values(deriveMemoryDetail(null))) t.equal(value, null);
  t.match(deriveMemoryDetail(memory()), { total: 1000, cached: null, buffers: null, pressure: null });
  const full = memory({ cachedBytes: 5, buffersBytes: 0, pressure: { some: 1, full: 0.5 } });
  t.match(deriveMemoryDetail(full), { cached: 5, buffers: 0, pressure: { some: 1, full: 0.5 } });
});
