/** Reads names, rows and times from the columns of a process reading. Pure. */
import type { ProcessColumns, ProcessId } from './processes.ts';

export function nameOf(columns: ProcessColumns, row: number): string {
  const start = row === 0 ? 0 : (columns.nameEnds[row - 1] ?? 0);
  return columns.names.toString('utf8', start, columns.nameEnds[row] ?? start);
}

/** Returns the row of process `pid`; undefined when it does not exist. */
export function rowOf(columns: ProcessColumns, pid: number): number | undefined {
  let low = 0;
  let high = columns.pids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((columns.pids[middle] ?? 0) < pid) low = middle + 1;
    else high = middle;
  }
  return columns.pids[low] === pid ? low : undefined;
}

export const idAt = (columns: ProcessColumns, row: number): ProcessId => ({
  pid: columns.pids[row] ?? 0,
  startTicks: columns.startTicks[row] ?? 0,
});

/** Returns Unix seconds. When the wall clock is set, the values of all processes change by the same amount. */
export function startedAt(columns: ProcessColumns, row: number): number {
  const bootMs = columns.unixMs - columns.sinceBootNs / 1e6;
  return Math.floor(bootMs / 1000 + (columns.startTicks[row] ?? 0) / columns.ticksPerSecond);
}

/** Returns the rows of `columns` by process name, in order of appearance. */
export function groupByName(columns: ProcessColumns): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (let row = 0; row < columns.pids.length; row++) {
    const name = nameOf(columns, row);
    const rows = groups.get(name);
    if (rows === undefined) groups.set(name, [row]);
    else rows.push(row);
  }
  return groups;
}
