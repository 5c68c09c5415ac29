/** The gpu section. */
import t from 'tap';
import { deriveGpuDetail, deriveGpuStats } from '#src/stats/gpu.js';
import { gpu } from './literals.ts';

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
