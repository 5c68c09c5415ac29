/** The memory section of a sample. */
import type { MemoryCounters } from '../host/host.ts';
import type { MemoryDetail, MemoryStats, SwapDetail } from '../wire/sample.ts';
import { percentOf } from './round.ts';

/** used + free = total: free is available to programs, used is the rest. */
export function deriveMemoryStats(counters: MemoryCounters | null): MemoryStats {
  if (counters === null) return { used: 0, free: 0, used_percent: 0 };
  const used = Math.max(0, counters.totalBytes - counters.availableBytes);
  return {
    used,
    free: counters.totalBytes - used,
    used_percent: percentOf(used, counters.totalBytes) ?? 0,
  };
}

function deriveSwap(counters: MemoryCounters): SwapDetail | null {
  const total = counters.swapTotalBytes ?? null;
  const free = counters.swapFreeBytes ?? null;
  if (total === null || free === null) return null;
  const used = Math.max(0, total - free);
  // A machine without swap uses none: that 0 is a known value.
  return { total, used, free, used_percent: percentOf(used, total) ?? 0 };
}

const UNKNOWN: MemoryDetail = {
  used: null,
  free: null,
  used_percent: null,
  total: null,
  cached: null,
  buffers: null,
  swap: null,
  pressure: null,
};

export function deriveMemoryDetail(counters: MemoryCounters | null): MemoryDetail {
  if (counters === null) return UNKNOWN;
  const { used, free, used_percent } = deriveMemoryStats(counters);
  return {
    used,
    free,
    used_percent,
    total: counters.totalBytes,
    cached: counters.cachedBytes ?? null,
    buffers: counters.buffersBytes ?? null,
    swap: deriveSwap(counters),
    pressure: counters.pressure ?? null,
  };
}
