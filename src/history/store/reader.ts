/** Reads slots of any length from minutes, spans and days. */
import { PLACES } from '../../fairness/limits.ts';
import type { Slot } from '../history.ts';
import type { Values } from './blobs.ts';
import type { Database } from './database.ts';
import { readNumber } from './last-write.ts';
import {
  type Column,
  floorTo,
  QUARTER_SECONDS,
  type ReadAnswer,
  type ReadRequest,
  SLOT_SECONDS,
  SPAN_SECONDS,
} from './messages.ts';
import { readProcesses } from './minutes.ts';
import { readNotes } from './notes.ts';
import type { SeriesTable } from './series.ts';
import { LEVELS, type Level, oldestOf, rowsOf } from './spans.ts';
import { numberIn } from './sqlite.ts';

/** Maximum age of the processes of a moment. */
const PROCESS_SECONDS = 3600;

interface Sums {
  readonly name: string;
  readonly unit: string;
  readonly sum: Float64Array;
  readonly count: Uint32Array;
  readonly min: Float32Array;
  readonly max: Float32Array;
}

/** Collects values of rows in the slots of an answer. */
class Grid {
  readonly start: number;
  readonly step: number;
  readonly length: number;
  readonly sums = new Map<number, Sums>();
  readonly #wanted: ReadonlyMap<number, { readonly name: string; readonly unit: string }>;
  isTooLarge = false;

  constructor(request: ReadRequest, step: number, series: SeriesTable) {
    this.step = step;
    this.start = floorTo(request.from, step);
    this.length = Math.max(0, Math.ceil((request.until - this.start) / step));
    const wanted = new Map<number, { readonly name: string; readonly unit: string }>();
    for (const name of request.names) {
      const found = series.find(name);
      if (found !== undefined) wanted.set(found.id, { name, unit: found.unit });
    }
    this.#wanted = wanted;
  }

  /** Adds the row that begins at `at`; `seconds`: length of its slots. */
  add(at: number, seconds: number, { ids, slots, mean, min, max, counts }: Values): void {
    ids.forEach((id, row) => {
      const sums = this.#sumsOf(id);
      if (sums === undefined) return;
      for (let slot = 0; slot < slots; slot++) {
        const from = row * slots + slot;
        const value = mean[from] ?? Number.NaN;
        const to = Math.floor((at + slot * seconds - this.start) / this.step);
        if (Number.isNaN(value) || to < 0 || to >= this.length) continue;
        const count = counts?.[from] ?? 1;
        sums.sum[to] = (sums.sum[to] ?? 0) + value * count;
        sums.count[to] = (sums.count[to] ?? 0) + count;
        sums.min[to] = Math.min(sums.min[to] ?? value, min[from] ?? value);
        sums.max[to] = Math.max(sums.max[to] ?? value, max[from] ?? value);
      }
    });
  }

  #sumsOf(id: number): Sums | undefined {
    const known = this.sums.get(id);
    const wanted = this.#wanted.get(id);
    if (known !== undefined || wanted === undefined || this.isTooLarge) return known;
    this.isTooLarge = (this.sums.size + 1) * this.length * 3 > PLACES.numbers.max;
    if (this.isTooLarge) return undefined;
    const sums = {
      ...wanted,
      sum: new Float64Array(this.length),
      count: new Uint32Array(this.length),
      min: new Float32Array(this.length).fill(Number.POSITIVE_INFINITY),
      max: new Float32Array(this.length).fill(Number.NEGATIVE_INFINITY),
    };
    this.sums.set(id, sums);
    return sums;
  }

  columns(): readonly Column[] {
    return [...this.sums.values()].map(({ name, unit, sum, count, min, max }) => {
      const isEmpty = (i: number) => count[i] === 0;
      return {
        name,
        unit,
        mean: Float32Array.from(sum, (value, i) => value / (count[i] ?? 0)),
        min: min.map((value, i) => (isEmpty(i) ? Number.NaN : value)),
        max: max.map((value, i) => (isEmpty(i) ? Number.NaN : value)),
      };
    });
  }
}

/**
 * Returns the step of the answer. Quarters of days and spans are combined to multiples of their length; spans are also used
 * where the minutes have been deleted.
 */
function stepOf({ from, step }: ReadRequest, database: Database): number {
  for (const unit of [QUARTER_SECONDS, SPAN_SECONDS]) if (step >= unit) return Math.ceil(step / unit) * unit;
  const fine = Math.max(SLOT_SECONDS, Math.ceil(step / SLOT_SECONDS) * SLOT_SECONDS);
  const minutes = oldestOf(database, 'minutes') ?? Number.POSITIVE_INFINITY;
  const spans = oldestOf(database, 'spans') ?? Number.POSITIVE_INFINITY;
  const begins = floorTo(Math.max(from, spans), SPAN_SECONDS) + SPAN_SECONDS;
  return spans < minutes && begins <= minutes ? SPAN_SECONDS : fine;
}

export function readSlots(
  database: Database,
  series: SeriesTable,
  request: ReadRequest,
): ReadAnswer | 'too_many' {
  const { until } = request;
  const step = stepOf(request, database);
  const grid = new Grid(request, step, series);
  const end = grid.start + grid.length * step;
  let from = grid.start;
  const addUntil = (level: Level, until: number) => {
    const { seconds, slotSeconds } = LEVELS[level];
    if (step < slotSeconds || until <= from) return;
    for (const { at, values } of rowsOf(database, level, floorTo(from, seconds), Math.min(until, end))) {
      grid.add(at, slotSeconds, values);
      if (grid.isTooLarge) break;
    }
    from = until;
  };
  // The open quarter and the open span have no summary yet.
  addUntil('days', readNumber(database, 'open_quarter') ?? from);
  addUntil('spans', readNumber(database, 'open_span') ?? from);
  addUntil('minutes', end);
  if (grid.isTooLarge) return 'too_many';
  const { marks, events } = readNotes(database, grid.start, Math.max(until, end));
  return { start: grid.start, step, columns: grid.columns(), marks, events };
}

/** Returns the programs that ran in the slot of `at`, or were read last before it. */
export function findProcesses(database: Database, at: number): Slot['processes'] {
  const sql = 'SELECT at FROM processes WHERE at <= ? AND at > ? ORDER BY at DESC LIMIT 2';
  for (const row of database.rows(sql, at, at - PROCESS_SECONDS)) {
    const slots = readProcesses(database, numberIn(row, 'at') ?? 0);
    const found = slots.findLast((slot) => slot.at <= at);
    if (found !== undefined) return found.processes;
  }
  return undefined;
}
