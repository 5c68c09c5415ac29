/** The rows of minutes: written, merged with their existing slots, and cut where the clock was set back. */
import type { Slot } from '../history.ts';
import { decodeJson, decodeValues, emptyValues, encodeJson, encodeValues, type Values } from './blobs.ts';
import type { Database } from './database.ts';
import {
  floorTo,
  MINUTE_SECONDS,
  type PackedSlot,
  type PackedSlots,
  SLOT_SECONDS,
  SLOTS,
  SPAN_SECONDS,
} from './messages.ts';
import type { SeriesTable } from './series.ts';
import { dropDays } from './spans.ts';
import { bytesIn } from './sqlite.ts';

/** The programs that ran in a slot. */
export interface ProcessSlot {
  readonly at: number;
  readonly processes: NonNullable<Slot['processes']>;
}

/** Undefined: it does not exist, or is damaged. */
export function readMinute(database: Database, at: number): Values | undefined {
  const data = bytesIn(database.get('SELECT data FROM minutes WHERE at = ?', at), 'data');
  return data && decodeValues(data, SLOTS, 3);
}

export function readProcesses(database: Database, at: number): readonly ProcessSlot[] {
  const data = bytesIn(database.get('SELECT data FROM processes WHERE at = ?', at), 'data');
  const slots = data && decodeJson(data);
  // As writeProcesses wrote them.
  return Array.isArray(slots) ? (slots as ProcessSlot[]) : [];
}

/** Writes slots of any minutes. Returns the minutes, ascending. */
export function writeMinutes(
  database: Database,
  packed: PackedSlots,
  series: SeriesTable,
): readonly number[] {
  const byMinute = new Map<number, PackedSlot[]>();
  for (const slot of packed.slots) {
    const minute = floorTo(slot.at, MINUTE_SECONDS);
    const slots = byMinute.get(minute);
    if (slots === undefined) byMinute.set(minute, [slot]);
    else slots.push(slot);
  }
  const minutes = [...byMinute.keys()].sort((a, b) => a - b);
  for (const minute of minutes) {
    const slots = byMinute.get(minute) ?? [];
    const idAt = (position: number) =>
      series.idOf(packed.names[position] ?? '', packed.units[position] ?? '', minute);
    const values = merge(minute, slots, idAt, readMinute(database, minute));
    if (values.ids.length > 0) storeMinute(database, minute, values);
    writeProcesses(database, minute, slots);
  }
  return minutes;
}

function storeMinute(database: Database, minute: number, values: Values): void {
  database.run('REPLACE INTO minutes (at, data) VALUES (?, ?)', minute, encodeValues(values));
}

/** The new slots replace those of `before`; its other slots remain. */
function merge(
  minute: number,
  slots: readonly PackedSlot[],
  idAt: (position: number) => number,
  before: Values | undefined,
): Values {
  const idsOf = slots.map(({ series }) => Array.from(series, idAt));
  const ids = Uint32Array.from(new Set([...(before?.ids ?? []), ...idsOf.flat()])).sort();
  const rowOf = new Map(Array.from(ids, (id, row) => [id, row]));
  const values = emptyValues(ids, SLOTS);
  const replaced = new Set(slots.map(({ at }) => (at - minute) / SLOT_SECONDS));
  before?.ids.forEach((id, row) => {
    const target = rowOf.get(id) ?? 0;
    for (let slot = 0; slot < SLOTS; slot++)
      if (!replaced.has(slot)) copyValue(before, row * SLOTS + slot, values, target * SLOTS + slot);
  });
  for (const [index, { at, values: numbers }] of slots.entries())
    idsOf[index]?.forEach((id, position) => {
      const to = (rowOf.get(id) ?? 0) * SLOTS + (at - minute) / SLOT_SECONDS;
      values.mean[to] = numbers[position * 3] ?? Number.NaN;
      values.min[to] = numbers[position * 3 + 1] ?? Number.NaN;
      values.max[to] = numbers[position * 3 + 2] ?? Number.NaN;
    });
  return values;
}

function copyValue(source: Values, from: number, target: Values, to: number): void {
  for (const plane of ['mean', 'min', 'max'] as const) target[plane][to] = source[plane][from] ?? Number.NaN;
}

/** Writes processes; a reading that covers several slots is stored once. */
function writeProcesses(database: Database, minute: number, slots: readonly PackedSlot[]): void {
  const kept = new Map<number, ProcessSlot>();
  for (const slot of readProcesses(database, minute)) kept.set(slot.at, slot);
  let isChanged = false;
  for (const { at, processes } of slots) {
    isChanged ||= kept.delete(at) || processes !== undefined;
    if (processes !== undefined) kept.set(at, { at, processes });
  }
  if (!isChanged) return;
  const all = [...kept.values()].sort((a, b) => a.at - b.at);
  const distinct = all.filter((slot, i) => slot.processes.takenAt !== all[i - 1]?.processes.takenAt);
  if (distinct.length === 0) database.run('DELETE FROM processes WHERE at = ?', minute);
  else database.run('REPLACE INTO processes (at, data) VALUES (?, ?)', minute, encodeJson(distinct));
}

/** Removes the slots from that of `at` on, and all later ones: they belong to another time. As memory does. */
export function dropAfter(database: Database, at: number): void {
  const first = floorTo(at, SLOT_SECONDS);
  const minute = floorTo(at, MINUTE_SECONDS);
  const values = readMinute(database, minute);
  const keptProcesses = readProcesses(database, minute).filter((slot) => slot.at < first);
  for (const table of ['minutes', 'processes']) database.run(`DELETE FROM ${table} WHERE at >= ?`, minute);
  database.run('DELETE FROM spans WHERE at > ?', at - SPAN_SECONDS);
  dropDays(database, at);
  database.run('DELETE FROM notes WHERE at > ?', at);
  if (keptProcesses.length > 0)
    database.run('REPLACE INTO processes (at, data) VALUES (?, ?)', minute, encodeJson(keptProcesses));
  if (values === undefined) return;
  const kept = emptyValues(values.ids, SLOTS);
  for (let i = 0; i < values.mean.length; i++)
    if (minute + (i % SLOTS) * SLOT_SECONDS < first) copyValue(values, i, kept, i);
  storeMinute(database, minute, kept);
}
