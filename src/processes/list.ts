/** Builds process lists: grouped by name or one row per process, filtered, sorted, limited. Pure. */
import { wholeSeconds } from '../clock.ts';
import { groupByName, nameOf, startedAt } from '../host/process-columns.ts';
import type { ProcessColumns } from '../host/processes.ts';
import type { ProcessGroup, ProcessListPayload, ProcessRates, ProcessRow } from '../wire/process.ts';
import {
  type ProcessUses,
  type ProcessWindow,
  shareAt,
  shownShare,
  sumOf,
  toMib,
  toSeconds,
  usesOf,
} from './shares.ts';

export type ProcessSort = 'cpu' | 'memory' | 'disk' | 'name';

export interface ProcessListOptions {
  readonly sort: ProcessSort;
  /** Maximum number of rows. */
  readonly limit: number;
  /** Part of a name, in any case; in a list with one row per process also a whole process number. */
  readonly query: string;
  /** Whether rows have their disk I/O. */
  readonly hasDisks: boolean;
}

/** The values that rows are sorted by. */
interface Ranked extends ProcessRates {
  readonly name: string;
  readonly memory: number;
  readonly cpu: number | null;
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byName = (a: Ranked, b: Ranked) =>
  byText(a.name.toLowerCase(), b.name.toLowerCase()) || byText(a.name, b.name);
const byMemory = (a: Ranked, b: Ranked) => b.memory - a.memory || byName(a, b);

const diskOf = ({ read_rate, write_rate }: Ranked) => (read_rate ?? -1) + (write_rate ?? -1);

/** Descending for cpu, memory and disk, A to Z for name; unknown values last. */
const ORDERS: Readonly<Record<ProcessSort, (a: Ranked, b: Ranked) => number>> = {
  cpu: (a, b) => (b.cpu ?? -1) - (a.cpu ?? -1) || byMemory(a, b),
  memory: byMemory,
  disk: (a, b) => diskOf(b) - diskOf(a) || byMemory(a, b),
  name: (a, b) => byName(a, b) || b.memory - a.memory,
};

const secondsOf = (columns: ProcessColumns) => wholeSeconds(columns.unixMs);

const matches = (name: string, query: string) => name.toLowerCase().includes(query.toLowerCase());

function ratesOf({ rates }: ProcessUses, rows: readonly number[]): ProcessRates {
  if (rates === undefined) return {};
  const shown = (rate: number) => (Number.isNaN(rate) ? null : Math.round(rate));
  return { read_rate: shown(sumOf(rates.reads, rows)), write_rate: shown(sumOf(rates.writes, rows)) };
}

export function groupOf(
  columns: ProcessColumns,
  name: string,
  rows: readonly number[],
  uses: ProcessUses,
): ProcessGroup {
  const memory = sumOf(columns.residentBytes, rows);
  return {
    name,
    count: rows.length,
    memory,
    memory_mb: toMib(memory),
    cpu_time: toSeconds(sumOf(columns.cpuTicks, rows), columns),
    cpu: shownShare(Math.min(100, sumOf(uses.shares, rows))),
    ...ratesOf(uses, rows),
  };
}

export function buildGroupedList(window: ProcessWindow, options: ProcessListOptions): ProcessListPayload {
  const { after } = window;
  const uses = usesOf(window, options.hasDisks);
  const groups = [...groupByName(after)]
    .filter(([name]) => matches(name, options.query))
    .map(([name, rows]) => groupOf(after, name, rows, uses));
  return {
    timestamp: secondsOf(after),
    total_count: after.pids.length,
    processes: groups.sort(ORDERS[options.sort]).slice(0, options.limit),
  };
}

export function processRowAt(
  columns: ProcessColumns,
  row: number,
  uses: ProcessUses,
  path: string | null,
): ProcessRow {
  const userId = columns.userIds[row] ?? 0;
  return {
    ...shareAt(columns, row, uses.shares),
    ppid: columns.parentPids[row] ?? 0,
    user: columns.owners[userId] ?? String(userId),
    started_at: startedAt(columns, row),
    threads: columns.threads[row] ?? 0,
    path,
    ...ratesOf(uses, [row]),
  };
}

/** Returns the rows of a list with one row per process, so that only their paths need to be read. */
export function selectRows(window: ProcessWindow, options: ProcessListOptions): readonly number[] {
  const { after } = window;
  const uses = usesOf(window, options.sort === 'disk');
  const rows: (Ranked & { readonly row: number })[] = [];
  for (let row = 0; row < after.pids.length; row++) {
    const name = nameOf(after, row);
    if (!matches(name, options.query) && String(after.pids[row]) !== options.query.trim()) continue;
    const share = uses.shares?.[row] ?? Number.NaN;
    rows.push({
      row,
      name,
      memory: after.residentBytes[row] ?? 0,
      cpu: Number.isNaN(share) ? null : share,
      ...ratesOf(uses, [row]),
    });
  }
  const order = ORDERS[options.sort];
  return rows
    .sort((a, b) => order(a, b) || a.row - b.row)
    .slice(0, options.limit)
    .map(({ row }) => row);
}

/** `paths` are those of `rows`, in the same order. */
export function buildFlatList(
  window: ProcessWindow,
  rows: readonly number[],
  paths: readonly (string | null)[],
  hasDisks: boolean,
): ProcessListPayload {
  const { after } = window;
  const uses = usesOf(window, hasDisks);
  return {
    timestamp: secondsOf(after),
    total_count: after.pids.length,
    processes: rows.map((row, at) => processRowAt(after, row, uses, paths[at] ?? null)),
  };
}
