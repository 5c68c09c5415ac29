/** Computes the use of the machine by programs between two readings: the five names with most of each. Pure. */
import type { ProcessColumns } from '../host/processes.ts';
import { greatestRows } from '../processes/shares.ts';
import type { ProcessUse, ProcessUses } from '../wire/history.ts';

/** Number of names kept of each kind. */
export const TOP_NAMES = 5;

const NS_PER_SECOND = 1e9;

export interface WindowUses extends ProcessUses {
  /** Length of the window that processor and disk use are averages over, without suspended time; null without one. */
  readonly windowSeconds: number | null;
}

interface Groups {
  /** The group of each row. */
  readonly ofRow: Uint32Array;
  /** One character per byte. */
  readonly names: readonly string[];
  readonly counts: Uint32Array;
}

/** Compares names as bytes: decoding that of each of 10,000 processes would take 10 ms. */
function groupRows({ names, nameEnds }: ProcessColumns): Groups {
  const text = names.toString('latin1');
  const ids = new Map<string, number>();
  const ofRow = new Uint32Array(nameEnds.length);
  let start = 0;
  for (let row = 0; row < nameEnds.length; row++) {
    const end = nameEnds[row] ?? start;
    const name = text.slice(start, end);
    const known = ids.get(name);
    if (known === undefined) ids.set(name, ids.size);
    ofRow[row] = known ?? ids.size - 1;
    start = end;
  }
  const counts = new Uint32Array(ids.size);
  for (let row = 0; row < ofRow.length; row++) {
    const group = ofRow[row] ?? 0;
    counts[group] = (counts[group] ?? 0) + 1;
  }
  return { ofRow, names: [...ids.keys()], counts };
}

/** Total use of each group: one number per group and kind. */
interface Sums {
  readonly memory: Float64Array;
  readonly ticks: Float64Array;
  readonly bytes: Float64Array;
  /** Whether any process shows its disk I/O. */
  hasBytes: boolean;
}

const NO_ROWS = new Float64Array(0);

/**
 * Sums by group the use of the processes of `after` since `before`; a process that is not in `before` has started
 * since. Both are sorted by number. One loop without calls: a reading happens once per minute, so it is interpreted.
 */
function sumUses(before: ProcessColumns, after: ProcessColumns, { ofRow, names }: Groups): Sums {
  const memory = new Float64Array(names.length);
  const ticks = new Float64Array(names.length);
  const bytes = new Float64Array(names.length);
  let hasBytes = false;
  const { pids, startTicks, cpuTicks, residentBytes, readBytes, writeBytes } = after;
  const { pids: oldPids, startTicks: oldStarts, cpuTicks: oldTicks } = before;
  const hasDisks = before.readBytes !== null && readBytes !== null;
  const [reads, writes] = [readBytes ?? NO_ROWS, writeBytes ?? NO_ROWS];
  const [oldReads, oldWrites] = [before.readBytes ?? NO_ROWS, before.writeBytes ?? NO_ROWS];
  let old = 0;
  for (let row = 0; row < pids.length; row++) {
    const pid = pids[row] ?? 0;
    while (old < oldPids.length && (oldPids[old] ?? 0) < pid) old++;
    const isOld = oldPids[old] === pid && oldStarts[old] === startTicks[row];
    const group = ofRow[row] ?? 0;
    memory[group] = (memory[group] ?? 0) + (residentBytes[row] ?? 0);
    const ticked = (cpuTicks[row] ?? 0) - (isOld ? (oldTicks[old] ?? 0) : 0);
    if (ticked > 0) ticks[group] = (ticks[group] ?? 0) + ticked;
    if (!hasDisks) continue;
    const known = isOld ? (oldReads[old] ?? 0) + (oldWrites[old] ?? 0) : 0;
    const moved = (reads[row] ?? 0) + (writes[row] ?? 0) - known;
    // NaN if hidden.
    if (moved >= 0) hasBytes = true;
    if (moved > 0) bytes[group] = (bytes[group] ?? 0) + moved;
  }
  return { memory, ticks, bytes, hasBytes };
}

/** Returns the greatest sums by name, times `factor`, as multiples of `step`. */
function topOf(groups: Groups, sums: Float64Array, factor: number, step: number): readonly ProcessUse[] {
  return greatestRows(sums, TOP_NAMES, 0)
    .map((group) => ({
      name: Buffer.from(groups.names[group] ?? '', 'latin1').toString(),
      count: groups.counts[group] ?? 0,
      value: Math.round(((sums[group] ?? 0) * factor) / step) / (1 / step),
    }))
    .filter(({ value }) => value > 0);
}

/** `before`: undefined if it is too long ago. */
export function usesBetween(before: ProcessColumns | undefined, after: ProcessColumns): WindowUses {
  const groups = groupRows(after);
  const sums = sumUses(before ?? after, after, groups);
  const memory = topOf(groups, sums.memory, 1, 1);
  const seconds = before === undefined ? 0 : (after.takenAtNs - before.takenAtNs) / NS_PER_SECOND;
  if (before === undefined || seconds <= 0) return { cpu: null, memory, disk: null, windowSeconds: null };
  const machineTicks = (after.machineTicks ?? Number.NaN) - (before.machineTicks ?? Number.NaN);
  return {
    cpu: machineTicks > 0 ? topOf(groups, sums.ticks, 100 / machineTicks, 0.01) : null,
    memory,
    disk: sums.hasBytes ? topOf(groups, sums.bytes, 1 / seconds, 1) : null,
    windowSeconds: seconds,
  };
}
