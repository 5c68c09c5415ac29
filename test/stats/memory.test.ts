/** The memory section. */
import t from 'tap';
import { deriveMemoryDetail, deriveMemoryStats } from '#src/stats/memory.js';
import { memory } from './literals.ts';

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
