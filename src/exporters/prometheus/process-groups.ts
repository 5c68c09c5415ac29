/** The processes that matter, grouped by name: few series, which stay. */
import { PLACES } from '../../fairness/limits.ts';
import { groupByName } from '../../host/process-columns.ts';
import type { ProcessColumns } from '../../host/processes.ts';
import { growthOf, sumOf } from '../../processes/shares.ts';
import { type Family, family, type MetricSample, single } from './exposition.ts';

/** So many by CPU time and so many by memory get a place. */
const TOP = 5;
/** When there is no free place, the place of a group that has been in no top for this long goes to one that is. */
const KEEP_NS = 600e9;
/** A group in the top by CPU has used at least this part of a processor since the reading before. */
const MIN_SHARE = 0.05;

interface Group {
  readonly name: string;
  readonly count: number;
  readonly residentBytes: number;
  /** CPU time of its living processes, in ticks… */
  readonly ticks: number;
  /** …and the part of it since the reading before; of a new process all. */
  readonly usedTicks: number;
}

/** An exported group. */
interface Place {
  /** Only grows: the time of processes that have ended stays in it. */
  ticks: number;
  topAtNs: number;
}

/** Kernel threads are left out: their names change with what they do. */
function groupsOf(after: ProcessColumns, before: ProcessColumns | undefined): ReadonlyMap<string, Group> {
  const { cpuTicks, residentBytes, kernelThreads } = after;
  const used = growthOf({ before, after }, 'cpuTicks', true) ?? cpuTicks;
  const groups = new Map<string, Group>();
  for (const [name, all] of groupByName(after)) {
    const rows = all.filter((row) => kernelThreads[row] !== 1);
    if (rows.length > 0)
      groups.set(name, {
        name,
        count: rows.length,
        residentBytes: sumOf(residentBytes, rows),
        ticks: sumOf(cpuTicks, rows),
        usedTicks: sumOf(used, rows),
      });
  }
  return groups;
}

function greatest(groups: Iterable<Group>, of: (group: Group) => number, least: number): readonly Group[] {
  return [...groups]
    .filter((group) => of(group) > least)
    .sort((a, b) => of(b) - of(a))
    .slice(0, TOP);
}

function topOf(
  groups: ReadonlyMap<string, Group>,
  columns: ProcessColumns,
  before: ProcessColumns | undefined,
): ReadonlySet<Group> {
  const seconds = before === undefined ? 0 : (columns.sinceBootNs - before.sinceBootNs) / 1e9;
  const leastTicks = seconds * columns.ticksPerSecond * MIN_SHARE;
  return new Set([
    ...greatest(groups.values(), ({ usedTicks }) => usedTicks, leastTicks),
    ...greatest(groups.values(), ({ residentBytes }) => residentBytes, 0),
  ]);
}

export class ProcessGroups {
  readonly #places = new Map<string, Place>();
  #last: ProcessColumns | undefined;
  #groups: ReadonlyMap<string, Group> = new Map();

  /** Readings come in the order of their times; the same one again changes nothing. */
  update(columns: ProcessColumns): void {
    const before = this.#last;
    if (before?.takenAtNs === columns.takenAtNs) return;
    this.#groups = groupsOf(columns, before);
    this.#last = columns;
    for (const [name, place] of this.#places) place.ticks += this.#groups.get(name)?.usedTicks ?? 0;
    for (const group of topOf(this.#groups, columns, before)) this.#give(group, columns.sinceBootNs);
  }

  #give({ name, ticks }: Group, nowNs: number): void {
    const place = this.#places.get(name);
    if (place !== undefined) place.topAtNs = nowNs;
    else if (this.#places.size < PLACES.metricGroups.max || this.#freeOne(nowNs))
      this.#places.set(name, { ticks, topAtNs: nowNs });
  }

  /** Whether there was one to be given up. */
  #freeOne(nowNs: number): boolean {
    const [oldest] = [...this.#places].sort(([, a], [, b]) => a.topAtNs - b.topAtNs);
    return oldest !== undefined && nowNs - oldest[1].topAtNs > KEEP_NS && this.#places.delete(oldest[0]);
  }

  families(): readonly Family[] {
    const columns = this.#last;
    if (columns === undefined) return [];
    const groups = (of: (name: string, place: Place) => MetricSample['value']) =>
      [...this.#places].map(([group, place]) => ({ labels: { group }, value: of(group, place) }));
    return [
      single('hostwire_processes', 'Processes, kernel threads included.', columns.pids.length),
      family(
        'hostwire_process_group_cpu_seconds_total',
        'CPU time of all processes of one name, those that have ended included.',
        groups((_name, { ticks }) => ticks / columns.ticksPerSecond),
      ),
      family(
        'hostwire_process_group_resident_memory_bytes',
        'Resident memory of all processes of one name; what they share is counted in each.',
        groups((name) => this.#groups.get(name)?.residentBytes ?? 0),
      ),
      family(
        'hostwire_process_group_processes',
        'Processes of one name.',
        groups((name) => this.#groups.get(name)?.count ?? 0),
      ),
    ];
  }
}
