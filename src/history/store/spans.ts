/** Summaries of ten minutes, made from the minutes when the span is over. */
import { decodeValues, encodeValues, type Values } from './blobs.ts';
import type { Database } from './database.ts';
import { noteOpenSpan, readOpenSpan } from './last-write.ts';
import { floorTo, SLOTS, SPAN_SECONDS } from './messages.ts';
import { bytesIn, numberIn } from './sqlite.ts';

interface Sum {
  sum: number;
  count: number;
  min: number;
  max: number;
}

/** Summarizes each span that the written minutes have left. */
export function closeSpans(database: Database, minutes: readonly number[]): void {
  const before = readOpenSpan(database);
  let open = before;
  for (const minute of minutes) {
    const span = floorTo(minute, SPAN_SECONDS);
    if (span === open) continue;
    if (open !== undefined) summarize(database, open);
    open = span;
  }
  if (open !== undefined && open !== before) noteOpenSpan(database, open);
}

function summarize(database: Database, at: number): void {
  const sums = new Map<number, Sum>();
  const sql = 'SELECT data FROM minutes WHERE at >= ? AND at < ? ORDER BY at';
  for (const row of database.rows(sql, at, at + SPAN_SECONDS)) {
    const data = bytesIn(row, 'data');
    const values = data && decodeValues(data, SLOTS, 3);
    if (values !== undefined) addTo(sums, values);
  }
  if (sums.size === 0) return;
  database.run('REPLACE INTO spans (at, data) VALUES (?, ?)', at, encodeValues(valuesOf(sums)));
}

function addTo(sums: Map<number, Sum>, { ids, mean, min, max }: Values): void {
  mean.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const id = ids[Math.floor(i / SLOTS)] ?? 0;
    const sum = sums.get(id) ?? {
      sum: 0,
      count: 0,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
    };
    sum.sum += value;
    sum.count++;
    sum.min = Math.min(sum.min, min[i] ?? value);
    sum.max = Math.max(sum.max, max[i] ?? value);
    sums.set(id, sum);
  });
}

function valuesOf(sums: ReadonlyMap<number, Sum>): Values {
  const ids = Uint32Array.from(sums.keys()).sort();
  const column = (read: (sum: Sum) => number) =>
    Float32Array.from(ids, (id) => {
      const sum = sums.get(id);
      return sum === undefined ? Number.NaN : read(sum);
    });
  return {
    ids,
    slots: 1,
    mean: column(({ sum, count }) => sum / count),
    min: column(({ min }) => min),
    max: column(({ max }) => max),
    counts: column(({ count }) => count),
  };
}

/** Returns the start of the oldest row of a table; undefined: it is empty. */
export function oldestOf(database: Database, table: 'minutes' | 'spans'): number | undefined {
  return numberIn(database.get(`SELECT min(at) AS at FROM ${table}`), 'at');
}
