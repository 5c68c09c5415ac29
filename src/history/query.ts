/** Answers a request from the rings in memory, and from the store for the time before. Pure. */
import { PLACES } from '../fairness/limits.ts';
import type { HistorySeries } from '../wire/history.ts';
import { FINE_SECONDS, type HistoryRequest, SLOT_SECONDS, type Slot, type Summary } from './history.ts';
import type { Memory, SeriesReader } from './memory.ts';
import { Tally } from './tally.ts';

/** Maximum number of slots of an answer whose step was not requested. */
const MAX_SLOTS = 720;

export const DEFAULT_SERIES: readonly string[] = [
  'cpu.load',
  'cpu.temperature',
  'memory.used_percent',
  'network.receive',
  'network.send',
  'disk.used_percent/*',
  'gpu.load/0',
];

/** The slots of an answer. */
export interface Grid {
  /** Unix seconds, a multiple of `step`. */
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

const roundedUp = (value: number, unit: number) => Math.ceil(value / unit) * unit;

/** `nowSeconds`: Unix time. */
export function gridOf({ since, until, step }: HistoryRequest, nowSeconds: number): Grid {
  const from = since < 0 ? nowSeconds + since : since;
  const end = Math.min(until ?? nowSeconds, nowSeconds);
  const isFine = from >= nowSeconds - FINE_SECONDS && (step === undefined || step <= 1);
  const wanted = step ?? Math.max(0, end - from) / MAX_SLOTS;
  let chosen = isFine ? 1 : Math.max(SLOT_SECONDS, roundedUp(wanted, SLOT_SECONDS));
  const gridAt = (length: number): Grid => {
    const start = Math.floor(from / length) * length;
    return { start, step: length, count: Math.max(0, Math.ceil((end - start) / length)) };
  };
  // A start that is rounded down may need one more slot.
  if (step === undefined && gridAt(chosen).count > MAX_SLOTS) chosen += SLOT_SECONDS;
  return gridAt(chosen);
}

/** Returns whether a name matches one of `patterns`, where `*` stands for any text. */
export function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map(wildcard);
  return (name) => exact.has(name) || wild.some((matches) => matches(name));
}

/** Matches without a regular expression, which many stars would make slow. */
function wildcard(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  const middle = parts.slice(1, -1);
  return (name) => {
    if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
      return false;
    const end = name.length - last.length;
    let at = first.length;
    for (const part of middle) {
      const found = name.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/** Values per unit that are distinct on the wire: a number of 24 bits has at most 7 significant digits. */
const STEPS: Readonly<Record<string, number>> = {
  'bytes/s': 1,
  RPM: 1,
  s: 1,
  MiB: 10,
  '%': 100,
  '°C': 100,
  W: 100,
};
const OTHER_STEPS = 1000;

/** Slots of this length and more summarize so much that three digits are all that is seen of them. */
const LONG_SECONDS = 21_600;
const LONG_DIGITS = 3;

type Column = (number | null)[];

/** Collects one series of an answer. */
class Columns {
  readonly unit: string;
  readonly #grid: Grid;
  readonly #mean: Column;
  readonly #min: Column;
  readonly #max: Column;

  constructor(unit: string, grid: Grid) {
    this.unit = unit;
    this.#grid = grid;
    const empty = () => new Array<number | null>(grid.count).fill(null);
    this.#mean = empty();
    this.#min = grid.step === 1 ? [] : empty();
    this.#max = grid.step === 1 ? [] : empty();
  }

  set(at: number, { mean, min, max }: Summary): void {
    if (at < 0 || at >= this.#grid.count) return;
    const steps = STEPS[this.unit] ?? OTHER_STEPS;
    const digits = this.#grid.step < LONG_SECONDS ? undefined : LONG_DIGITS;
    const rounded = (value: number) => {
      const known = Math.round(value * steps) / steps;
      return digits === undefined ? known : Number(known.toPrecision(digits));
    };
    this.#mean[at] = rounded(mean);
    if (this.#grid.step === 1) return;
    this.#min[at] = rounded(min);
    this.#max[at] = rounded(max);
  }

  has(at: number): boolean {
    return (this.#mean[at] ?? null) !== null;
  }

  get answer(): HistorySeries {
    const { unit } = this;
    if (this.#grid.step === 1) return { unit, mean: this.#mean };
    return { unit, mean: this.#mean, min: this.#min, max: this.#max };
  }
}

function fillFine(columns: Columns, series: SeriesReader, { start, count }: Grid): void {
  for (let at = 0; at < count; at++) {
    const value = series.fine(start + at);
    if (!Number.isNaN(value)) columns.set(at, { mean: value, min: value, max: value });
  }
}

/** Fills coarse slots: the mean of a longer slot is that of its slots of 10 s. */
function fillCoarse(
  columns: Columns,
  series: SeriesReader,
  { start, step, count }: Grid,
  first: number,
): void {
  const perCell = step / SLOT_SECONDS;
  const begin = start / SLOT_SECONDS;
  for (let at = Math.max(0, Math.floor((first - begin) / perCell)); at < count; at++) {
    const tally = new Tally();
    const from = begin + at * perCell;
    for (let slot = Math.max(from, first); slot < from + perCell; slot++) {
      const summary = series.coarse(slot);
      if (summary !== undefined) tally.add(summary.mean, summary.min, summary.max);
    }
    const { summary } = tally;
    if (summary !== undefined) columns.set(at, summary);
  }
}

/** Start of the part that is answered from memory alone: the first slot that lies wholly in it. */
export const memoryBegin = ({ step }: Grid, memory: Memory) =>
  step === 1 ? Number.NEGATIVE_INFINITY : roundedUp(memory.firstSlot * SLOT_SECONDS, step);

/** Undefined: more than PLACES.numbers.max. */
export type ColumnsByName = Readonly<Record<string, HistorySeries>> | undefined;

/**
 * Returns the series that `matches` selects, by name: from memory, and `stored` slots (of the grid's step) before
 * `memoryBegin`, or where memory has no value. Yields after each part of the work: 24 hours of a series take 0.7 ms.
 */
export function* columnSteps(
  grid: Grid,
  matches: (name: string) => boolean,
  memory: Memory,
  stored: readonly Slot[] = [],
): Generator<undefined, ColumnsByName> {
  if (grid.count > PLACES.numbers.max) return undefined;
  const perSeries = grid.count * (grid.step === 1 ? 1 : 3);
  const byName = new Map<string, Columns>();
  const make = (name: string, unit: string): Columns | undefined => {
    if ((byName.size + 1) * perSeries > PLACES.numbers.max) return undefined;
    const columns = new Columns(unit, grid);
    byName.set(name, columns);
    return columns;
  };
  for (const name of memory.names) {
    const series = matches(name) ? memory.reader(name) : undefined;
    if (series === undefined) continue;
    const columns = make(name, series.unit);
    if (columns === undefined) return undefined;
    if (grid.step === 1) fillFine(columns, series, grid);
    else fillCoarse(columns, series, grid, memory.firstSlot);
    yield;
  }
  const begin = memoryBegin(grid, memory);
  for (const slot of stored) {
    const at = (slot.at - grid.start) / grid.step;
    for (const [name, summary] of slot.values) {
      if (!matches(name)) continue;
      const columns = byName.get(name) ?? make(name, summary.unit);
      if (columns === undefined) return undefined;
      if (slot.at < begin || !columns.has(at)) columns.set(at, summary);
    }
    yield;
  }
  return Object.fromEntries([...byName].map(([name, columns]) => [name, columns.answer]));
}
