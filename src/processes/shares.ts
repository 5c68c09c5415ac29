/** Processes between two readings: shares of the machine, and the few rows of a detailed sample. Pure. */
import { nameOf } from '../host/process-columns.ts';
import type { ProcessColumns } from '../host/processes.ts';
import { oneDecimal } from '../stats/round.ts';
import type { ProcessShare, ProcessSummary } from '../wire/process.ts';

/** Two readings; the later one is shown. */
export interface ProcessWindow {
  readonly before: ProcessColumns | undefined;
  readonly after: ProcessColumns;
}

const RUNNING = 'R'.charCodeAt(0);
const TOP_ROWS = 5;
const MIB = 1024 * 1024;

/** Minimum length of a window: a tick of the kernel is 10 ms. */
const WINDOW_NS = 4e8;

/**
 * Returns the window that ends with `columns`. A reading that is picked up twice keeps its window; one that arrives too
 * soon makes the window longer; after more than `maxNs` without a reading the window has no start.
 */
export function advanceWindow(
  known: ProcessWindow | undefined,
  columns: ProcessColumns,
  maxNs: number,
): ProcessWindow {
  if (known === undefined) return { before: undefined, after: columns };
  const elapsedNs = columns.takenAtNs - known.after.takenAtNs;
  if (elapsedNs === 0) return known;
  if (elapsedNs > maxNs) return { before: undefined, after: columns };
  if (elapsedNs < WINDOW_NS && known.before !== undefined) return { before: known.before, after: columns };
  return { before: known.after, after: columns };
}

/**
 * Returns the percentage of the whole machine for each row of `after`; NaN for a process that is not in `before`, even
 * if another process had its number. null with only one reading, or without time between the two.
 */
export function sharesOf({ before, after }: ProcessWindow): Float64Array | null {
  if (before === undefined || before.machineTicks === null || after.machineTicks === null) return null;
  const elapsed = after.machineTicks - before.machineTicks;
  if (!(elapsed > 0)) return null;
  const { pids, startTicks, cpuTicks } = after;
  const { pids: oldPids, startTicks: oldStarts, cpuTicks: oldTicks } = before;
  const shares = new Float64Array(pids.length).fill(Number.NaN);
  // Both are sorted by number: a merge, not a search.
  let old = 0;
  for (let row = 0; row < pids.length; row++) {
    const pid = pids[row] ?? 0;
    while (old < oldPids.length && (oldPids[old] ?? 0) < pid) old++;
    if (oldPids[old] !== pid || oldStarts[old] !== startTicks[row]) continue;
    const used = (cpuTicks[row] ?? 0) - (oldTicks[old] ?? 0);
    shares[row] = used > 0 ? Math.min(100, (used / elapsed) * 100) : 0;
  }
  return shares;
}

/** Returns the share on the wire; null without one. */
export function shownShare(share: number | undefined): number | null {
  return share === undefined || Number.isNaN(share) ? null : oneDecimal(share);
}

export const toMib = (bytes: number) => oneDecimal(bytes / MIB);

export const toSeconds = (ticks: number, columns: ProcessColumns) =>
  Math.round((ticks / columns.ticksPerSecond) * 100) / 100;

/** Returns the rows with the `count` greatest values above `floor`, greatest first; of equal ones the first. */
export function greatestRows(values: Float64Array, count: number, floor: number): readonly number[] {
  const rows: number[] = [];
  // The value that the next one must exceed. A reading happens every few seconds, so this loop is
  // interpreted: its body is kept short.
  let least = floor;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? floor;
    // Negated, so that NaN is skipped.
    if (!(value > least)) continue;
    const place = rows.findIndex((other) => (values[other] ?? floor) < value);
    rows.splice(place < 0 ? rows.length : place, 0, row);
    if (rows.length > count) rows.pop();
    if (rows.length === count) least = values[rows[count - 1] ?? 0] ?? floor;
  }
  return rows;
}

export function shareAt(columns: ProcessColumns, row: number, shares: Float64Array | null): ProcessShare {
  const memory = columns.residentBytes[row] ?? 0;
  return {
    name: nameOf(columns, row),
    pid: columns.pids[row] ?? 0,
    memory,
    memory_mb: toMib(memory),
    cpu_time: toSeconds(columns.cpuTicks[row] ?? 0, columns),
    cpu: shownShare(shares?.[row]),
  };
}

/** Returns the processes in a detailed sample, without their age. Idle ones are not among the top ones by CPU. */
export function deriveProcessSummary(window: ProcessWindow): Omit<ProcessSummary, 'age_seconds'> {
  const { after } = window;
  const shares = sharesOf(window);
  const shown = (row: number) => shareAt(after, row, shares);
  let running = 0;
  // Few of thousands run.
  for (let at = after.states.indexOf(RUNNING); at >= 0; at = after.states.indexOf(RUNNING, at + 1)) running++;
  return {
    count: after.pids.length,
    running,
    top_cpu: shares && greatestRows(shares, TOP_ROWS, 0).map(shown),
    top_memory: greatestRows(after.residentBytes, TOP_ROWS, 0).map(shown),
  };
}
