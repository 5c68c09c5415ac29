/** Limits of the service on the machine, in a detailed sample. */
import type { CpuThrottling } from '../host/details.ts';
import type { DetailRow } from './detail-row.ts';
import { percentOf } from './round.ts';

/** Returns null in a first reading, and if the group has changed, or no period has ended. */
function throttledPercent(
  before: CpuThrottling | null | undefined,
  after: CpuThrottling | null,
): number | null {
  if (!before || after === null || before.group !== after.group) return null;
  const throttled = after.throttledPeriods - before.throttledPeriods;
  return throttled < 0 ? null : percentOf(throttled, after.periods - before.periods);
}

export const LIMITS: DetailRow<'limits'> = {
  derive: ({ limits }, _facts, before) => {
    if (!limits || (limits.memoryBytes === null && limits.cpus === null)) return null;
    const { memoryBytes, memoryUsedBytes, cpus, throttling } = limits;
    return {
      memory_bytes: memoryBytes,
      memory_used_bytes: memoryUsedBytes,
      cpus: cpus === null ? null : Math.round(cpus * 1000) / 1000,
      throttled_percent: throttledPercent(before?.limits?.throttling, throttling),
    };
  },
  failures: ({ limits }) => [['limits', limits?.failure ?? null]],
  series: ({ memory_bytes, memory_used_bytes, cpus, throttled_percent }) => [
    { name: 'limits_memory', unit: 'bytes', value: memory_bytes },
    { name: 'limits_memory_used', unit: 'bytes', value: memory_used_bytes },
    { name: 'limits_cpus', unit: 'count', value: cpus },
    { name: 'limits_throttled', unit: 'percent', value: throttled_percent },
  ],
};
