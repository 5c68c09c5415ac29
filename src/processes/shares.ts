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
const NS_PER_SECOND = 1e9;

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
 * Returns the growth of a counter for each row of `after`; NaN where it is hidden. A process that is not in `before`, even
 * if another process had its number, has NaN, or with `countsNew` all that it has counted. null unless both readings have
 * the counter.
 */
export function growthOf(
  { before, after }: ProcessWindow,
  counter: 'cpuTicks' | 'readBytes' | 'writeBytes',
  countsNew = false,
): Float64Array | null {
  const values = after[counter];
  const oldValues = before?.[counter] ?? null;
  if (before === undefined || values === null || oldValues === null) return null;
  const { pids, startTicks } = after;
  const { pids: oldPids, startTicks: oldStarts } = before;
  const growths = countsNew ? values.slice() : new Float64Array(pids.length).fill(Number.NaN);
  // Both are sorted by number: a merge, not a search.
  let old = 0;
  for (let row = 0; row < pids.length; row++) {
    const pid = pids[row] ?? 0;
    while (old < oldPids.length && (oldPids[old] ?? 0) < pid) old++;
    if (oldPids[old] !== pid || oldStarts[old] !== startTicks[row]) continue;
    growths[row] = Math.max(0, (values[row] ?? 0) - (oldValues[old] ?? 0));
  }
  return growths;
}

/** Returns the sum of the known values of `rows`; NaN if none is known. */
export function sumOf(values: Float64Array | null, rows: readonly number[]): number {
  let sum = Number.NaN;
  for (const row of rows) {
    const value = values?.[row] ?? Number.NaN;
    if (!Number.isNaN(value)) sum = (Number.isNaN(sum) ? 0 : sum) + value;
  }
  return sum;
}

/** Returns the percentage of the whole machine for each row of `after`, as `growthOf`; null without time between. */
export function sharesOf(window: ProcessWindow): Float64Array | null {
  const elapsed = (window.after.machineTicks ?? Number.NaN) - (window.before?.machineTicks ?? Number.NaN);
  if (!(elapsed > 0)) return null;
  return growthOf(window, 'cpuTicks')?.map((used) => Math.min(100, (used / elapsed) * 100)) ?? null;
}

/** Returns the disk I/O for each row of `after` in bytes per second, as `growthOf`. */
export function diskRatesOf(window: ProcessWindow) {
  const seconds = (window.after.takenAtNs - (window.before?.takenAtNs ?? Number.NaN)) / NS_PER_SECOND;
  const rates = (counter: 'readBytes' | 'writeBytes') =>
    growthOf(window, counter)?.map((bytes) => bytes / seconds) ?? null;
  return { reads: rates('readBytes'), writes: rates('writeBytes') };
}

/** Figures since the previous reading for each row of the later one. */
export interface ProcessUses {
  readonly shares: Float64Array | null;
  /** undefined in a list without disk I/O. */
  readonly rates: ReturnType<typeof diskRatesOf> | undefined;
}

export const usesOf = (window: ProcessWindow, hasDisks: boolean): ProcessUses => ({
  shares: sharesOf(window),
  rates: hasDisks ? diskRatesOf(window) : undefined,
});

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
