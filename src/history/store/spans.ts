/** Summaries of ten minutes, made from the minutes when the span is over. */
import type { Summary } from '../history.ts';
import { Tally } from '../tally.ts';
import { decodeValues, encodeValues, type Values } from './blobs.ts';
import type { Database } from './database.ts';
import { noteOpenSpan, readOpenSpan } from './last-write.ts';
import { floorTo, SLOTS, SPAN_SECONDS } from './messages.ts';
import { bytesIn, numberIn } from './sqlite.ts';

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
  const sums = new Map<number, Tally>();
  const sql = 'SELECT data FROM minutes WHERE at >= ? AND at < ? ORDER BY at';
  for (const row of database.rows(sql, at, at + SPAN_SECONDS)) {
    const data = bytesIn(row, 'data');
    const values = data && decodeValues(data, SLOTS, 3);
    if (values !== undefined) addTo(sums, values);
  }
  if (sums.size === 0) return;
  database.run('REPLACE INTO spans (at, data) VALUES (?, ?)', at, encodeValues(valuesOf(sums)));
}

function addTo(sums: Map<number, Tally>, { ids, mean, min, max }: Values): void {
  mean.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const id = ids[Math.floor(i / SLOTS)] ?? 0;
    const tally = sums.get(id) ?? new Tally();
    tally.add(value, min[i], max[i]);
    sums.set(id, tally);
  });
}

function valuesOf(sums: ReadonlyMap<number, Tally>): Values {
  const ids = Uint32Array.from(sums.keys()).sort();
  const column = (plane: keyof Summary) =>
    Float32Array.from(ids, (id) => sums.get(id)?.summary?.[plane] ?? Number.NaN);
  return {
    ids,
    slots: 1,
    mean: column('mean'),
    min: column('min'),
    max: column('max'),
    counts: Float32Array.from(ids, (id) => sums.get(id)?.count ?? 0),
  };
}

/** Returns the start of the oldest row of a table; undefined: it is empty. */
export function oldestOf(database: Database, table: 'minutes' | 'spans'): number | undefined {
  return numberIn(database.get(`SELECT min(at) AS at FROM ${table}`), 'at');
}
