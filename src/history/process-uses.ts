/** Computes the use of the machine by programs between two readings: the five names with most of each. Pure. */
import type { ProcessColumns } from '../host/processes.ts';
import { greatestRows, growthOf } from '../processes/shares.ts';
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

/** Returns the greatest sums by name of the values of all rows, times `factor`, as multiples of `step`. */
function topOf(
  { ofRow, names, counts }: Groups,
  values: Float64Array,
  factor: number,
  step: number,
): readonly ProcessUse[] {
  const sums = new Float64Array(names.length);
  for (let row = 0; row < ofRow.length; row++) {
    const [group, value] = [ofRow[row] ?? 0, values[row] ?? 0];
    // Not NaN, which is hidden.
    if (value > 0) sums[group] = (sums[group] ?? 0) + value;
  }
  return greatestRows(sums, TOP_NAMES, 0)
    .map((group) => ({
      name: Buffer.from(names[group] ?? '', 'latin1').toString(),
      count: counts[group] ?? 0,
      value: Math.round(((sums[group] ?? 0) * factor) / step) / (1 / step),
    }))
    .filter(({ value }) => value > 0);
}

/** `before`: undefined if it is too long ago. */
export function usesBetween(before: ProcessColumns | undefined, after: ProcessColumns): WindowUses {
  const groups = groupRows(after);
  const memory = topOf(groups, after.residentBytes, 1, 1);
  const seconds = before === undefined ? 0 : (after.takenAtNs - before.takenAtNs) / NS_PER_SECOND;
  if (before === undefined || seconds <= 0) return { cpu: null, memory, disk: null, windowSeconds: null };
  const machineTicks = (after.machineTicks ?? Number.NaN) - (before.machineTicks ?? Number.NaN);
  const ticks = growthOf({ before, after }, 'cpuTicks', true);
  const reads = growthOf({ before, after }, 'readBytes', true);
  const writes = growthOf({ before, after }, 'writeBytes', true);
  const bytes = reads?.map((read, row) => read + (writes?.[row] ?? 0));
  return {
    cpu: ticks !== null && machineTicks > 0 ? topOf(groups, ticks, 100 / machineTicks, 0.01) : null,
    memory,
    disk: bytes?.some((moved) => moved >= 0) ? topOf(groups, bytes, 1 / seconds, 1) : null,
    windowSeconds: seconds,
  };
}
