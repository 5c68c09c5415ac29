/** Summaries of ten minutes, made from the minutes when the span is over, and of the quarters of days, from the spans. */
import type { Summary } from '../history.ts';
import { Tally } from '../tally.ts';
import { decodeValues, encodeValues, type Values } from './blobs.ts';
import type { Database } from './database.ts';
import { readNumber, writeNumber } from './last-write.ts';
import {
  DAY_SECONDS,
  floorTo,
  MINUTE_SECONDS,
  QUARTER_SECONDS,
  QUARTERS,
  SLOT_SECONDS,
  SLOTS,
  SPAN_SECONDS,
} from './messages.ts';
import { bytesIn, numberIn } from './sqlite.ts';

/** The levels of detail on disk: duration of a row, its slots, and their planes (blobs.ts). */
export const LEVELS = {
  minutes: { seconds: MINUTE_SECONDS, slots: SLOTS, slotSeconds: SLOT_SECONDS, planes: 3 },
  spans: { seconds: SPAN_SECONDS, slots: 1, slotSeconds: SPAN_SECONDS, planes: 4 },
  days: { seconds: DAY_SECONDS, slots: QUARTERS, slotSeconds: QUARTER_SECONDS, planes: 4 },
} as const;
export type Level = keyof typeof LEVELS;

/** Maximum number of days that one write makes: an older file is summarized over several minutes. */
const MAX_DAYS = 32;

/** Returns the rows of a level that begin in that time, in order, without damaged ones. */
export function* rowsOf(
  database: Database,
  level: Level,
  from: number,
  until: number,
): Generator<{ readonly at: number; readonly values: Values }> {
  const { slots, planes } = LEVELS[level];
  const sql = `SELECT at, data FROM ${level} WHERE at >= ? AND at < ? ORDER BY at`;
  for (const row of database.rows(sql, from, until)) {
    const data = bytesIn(row, 'data');
    const values = data && decodeValues(data, slots, planes);
    if (values !== undefined) yield { at: numberIn(row, 'at') ?? 0, values };
  }
}

/** Summarizes each span that the written minutes have left. */
export function closeSpans(database: Database, minutes: readonly number[]): void {
  const before = readNumber(database, 'open_span');
  let open = before;
  for (const minute of minutes) {
    const span = floorTo(minute, SPAN_SECONDS);
    if (span === open) continue;
    if (open !== undefined) summarize(database, 'minutes', 'spans', open, open + SPAN_SECONDS);
    open = span;
  }
  if (open !== undefined && open !== before) writeNumber(database, 'open_span', open);
}

/** Summarizes the quarters before that of the open span, of which a file of an earlier version has none. */
export function closeDays(database: Database): void {
  const open = floorTo(readNumber(database, 'open_span') ?? 0, QUARTER_SECONDS);
  const before =
    readNumber(database, 'open_quarter') ?? floorTo(oldestOf(database, 'spans') ?? open, QUARTER_SECONDS);
  if (open === before) return;
  const from = floorTo(before, DAY_SECONDS);
  // Where the clock was set back, the quarter that was open then is over.
  const until = Math.min(Math.max(open, before + QUARTER_SECONDS), from + MAX_DAYS * DAY_SECONDS);
  for (let day = from; day < until; day += DAY_SECONDS)
    summarize(database, 'spans', 'days', day, Math.min(day + DAY_SECONDS, until));
  writeNumber(database, 'open_quarter', Math.min(open, until));
}

/** Removes the days from that of `at` on; their earlier quarters are summarized again. */
export function dropDays(database: Database, at: number): void {
  const day = floorTo(at, DAY_SECONDS);
  database.run('DELETE FROM days WHERE at >= ?', day);
  if ((readNumber(database, 'open_quarter') ?? day) > day) writeNumber(database, 'open_quarter', day);
}

/** Makes the row of `to` at `at` from the rows of `source` before `until`; none without values. */
function summarize(database: Database, source: Level, to: Level, at: number, until: number): void {
  const { slots, slotSeconds } = LEVELS[to];
  const sums = Array.from({ length: slots }, () => new Map<number, Tally>());
  for (const row of rowsOf(database, source, at, until))
    addTo(sums[Math.floor((row.at - at) / slotSeconds)] ?? new Map(), row.values);
  if (sums.every(({ size }) => size === 0)) return;
  database.run(`REPLACE INTO ${to} (at, data) VALUES (?, ?)`, at, encodeValues(valuesOf(sums)));
}

function addTo(sums: Map<number, Tally>, { ids, slots, mean, min, max, counts }: Values): void {
  mean.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    const id = ids[Math.floor(i / slots)] ?? 0;
    const tally = sums.get(id) ?? new Tally();
    tally.add(value, min[i], max[i], counts?.[i]);
    sums.set(id, tally);
  });
}

/** `sums`: of each slot, by series. */
function valuesOf(sums: readonly ReadonlyMap<number, Tally>[]): Values {
  const ids = Uint32Array.from(new Set(sums.flatMap((slot) => [...slot.keys()]))).sort();
  const tallies = [...ids].flatMap((id) => sums.map((slot) => slot.get(id)));
  const column = (plane: keyof Summary) =>
    Float32Array.from(tallies, (tally) => tally?.summary?.[plane] ?? Number.NaN);
  return {
    ids,
    slots: sums.length,
    mean: column('mean'),
    min: column('min'),
    max: column('max'),
    counts: Float32Array.from(tallies, (tally) => tally?.count ?? 0),
  };
}

/** Returns the start of the oldest row of a table; undefined: it is empty. */
export function oldestOf(database: Database, table: 'minutes' | 'spans'): number | undefined {
  return numberIn(database.get(`SELECT min(at) AS at FROM ${table}`), 'at');
}
