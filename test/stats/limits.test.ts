/** The limits of a detailed sample: rounding, the throttled share between two readings, and failures. */
import t from 'tap';
import type { CpuThrottling, LimitCounters } from '#src/host/details.js';
import { type Baseline, NO_BASELINE } from '#src/stats/baseline.js';
import { failedParts } from '#src/stats/details.js';
import { deriveSample } from '#src/stats/sample.js';
import { at, cpu } from './literals.ts';

const FACTS = { interval_seconds: 2, host: 'box' };
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
