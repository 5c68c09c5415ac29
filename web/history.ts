/** The data of the charts: the values of each series in slots of equal length. */
import type { HistorySeries } from '../src/wire/history.ts';

export interface Range {
  readonly label: string;
  /** Shown time, and the length of a slot. */
  readonly seconds: number;
  readonly step: number;
  readonly words: string;
  /** Its begin in Unix seconds; undefined: it ends now. */
  readonly from?: number;
}

const DAY = 86_400;
/** Those that end now. Steps are at most 720 slots; those of a year are summaries that the service reads quickly. */
export const RANGES: readonly [Range, Range, ...Range[]] = [
  { label: '5 min', seconds: 300, step: 1, words: 'last five minutes' },
  { label: '1 h', seconds: 3600, step: 10, words: 'last hour' },
  { label: '1 d', seconds: DAY, step: 120, words: 'last day' },
  { label: '7 d', seconds: 7 * DAY, step: 900, words: 'last seven days' },
  { label: '30 d', seconds: 30 * DAY, step: 3600, words: 'last 30 days' },
  { label: '1 y', seconds: 365 * DAY, step: DAY, words: 'last year' },
];

/** Steps of other ranges: the smallest with at most 720 slots. */
const STEPS = [1, 10, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, DAY];
const MAX_SLOTS = 720;
const MIN_SECONDS = 60;
/** Time for which the service keeps each second. */
const FINE_SECONDS = 300;

/** Returns the range from `from` to `until`, of a minute at least, rounded to its slots. */
export function rangeOf(from: number, until: number, words: string, now: number): Range {
  const length = Math.max(MIN_SECONDS, until - from);
  const step =
    STEPS.find((each) => length / each <= MAX_SLOTS && (each > 1 || from >= now - FINE_SECONDS)) ?? DAY;
  const start = Math.floor(from / step) * step;
  const seconds = Math.ceil((from + length - start) / step) * step;
  return { label: '', seconds, step, words, from: start };
}

/** Time that the service's last reading before the first sample may be old: its interval without subscribers, and a sample's. */
const HELD_SECONDS = 13;

/** A pause of this many intervals is drawn as a gap. */
const GAP_INTERVALS = 2.5;

export type Point = number | null;

/** The mean of each slot; with slots of more than 1 s also the minimum and the maximum. */
type Columns = readonly [mean: Point[], min?: Point[], max?: Point[]];

/** One series as the service's history sends it. */
export type Kept = Omit<HistorySeries, 'unit'>;

export interface Past {
  readonly start: number;
  readonly step: number;
  readonly series: Readonly<Record<string, Kept>>;
}

export class History {
  readonly range: Range;
  /** Start of each slot; the last one is that of the newest sample. */
  readonly times: number[] = [];
  readonly #series = new Map<string, Columns>();
  /** Time of the newest sample. */
  #last = Number.NEGATIVE_INFINITY;
  /** Begin of what the first sample after a pause covers. */
  #first = Number.POSITIVE_INFINITY;

  constructor(range: Range) {
    this.range = range;
    const { from, seconds, step } = range;
    if (from !== undefined) for (let at = from; at < from + seconds; at += step) this.times.push(at);
  }

  /** The columns of `name` at `times`; undefined for a series that does not exist. */
  columns(name: string): Columns | undefined {
    return this.#series.get(name);
  }

  /** Returns whether a series whose name begins with `prefix` has a value in that time. */
  hasValue(prefix: string, from: number, until: number): boolean {
    return [...this.#series].some(
      ([name, [mean]]) =>
        name.startsWith(prefix) &&
        mean.some(
          (value, i) => value !== null && (this.times[i] ?? 0) >= from && (this.times[i] ?? 0) < until,
        ),
    );
  }

  /** Returns the slot that contains `time`; outside of `times` if it is not shown. */
  slotOf(time: number): number {
    return Math.floor((time - (this.times[0] ?? 0)) / this.range.step);
  }

  /** Adds a sample: a value holds for its interval, up to `time`; for a late sample, from the previous one. */
  push(time: number, intervalSeconds: number, values: ReadonlyMap<string, Point>): void {
    if (time === this.#last || this.range.from !== undefined) return;
    // The machine's clock was set back, so the drawn values belong to another time.
    if (time < this.#last) this.#clear();
    const isLate = time - this.#last <= intervalSeconds * GAP_INTERVALS;
    const from = isLate ? this.#last + 1 : Math.floor(time - intervalSeconds) + 1;
    if (!isLate) this.#first = from;
    this.#last = time;
    this.#advance(Math.floor(time / this.range.step) * this.range.step);
    for (const [name, value] of values) {
      const columns = this.#columnsOf(name);
      if (value !== null) this.#add(columns, value, from, time);
    }
  }

  /** Adds the known past of the existing series; of all where the range ends before now. */
  fill({ start, step, series }: Past): void {
    for (const [name, { mean, min = mean, max = mean }] of Object.entries(series)) {
      const columns = this.range.from === undefined ? this.#series.get(name) : this.#columnsOf(name);
      [mean, min, max].forEach((column, i) => {
        const target = columns?.[i];
        if (target === undefined) return;
        this.times.forEach((time, slot) => {
          const value = column[Math.floor((time - start) / step)];
          if (value != null) target[slot] = value;
        });
        this.#bridge(target);
      });
    }
  }

  /** The first value holds since the service's last reading, as in the service's own history. */
  #bridge(column: Point[]): void {
    const first = this.slotOf(this.#first);
    let begin = first;
    while (begin > 0 && column[begin - 1] === null) begin--;
    if (begin > 0 && (first - begin) * this.range.step <= HELD_SECONDS)
      column.fill(column[first] ?? null, begin, first);
  }

  #add(columns: Columns, value: number, from: number, to: number): void {
    const [mean, min, max] = columns;
    const slot = this.times.length - 1;
    const begin = this.times[slot] ?? to;
    // Slots that the interval covers as a whole, or that contained no other sample.
    for (let i = Math.max(0, this.slotOf(from)); i < slot; i++)
      if (mean[i] === null) for (const column of columns) if (column !== undefined) column[i] = value;
    const first = Math.max(from, begin);
    // The seconds of the slot that earlier samples cover.
    const had = first - begin;
    const old = mean[slot] ?? value;
    mean[slot] = (old * had + value * (to - first + 1)) / (to - begin + 1);
    if (min !== undefined) min[slot] = Math.min(min[slot] ?? value, value);
    if (max !== undefined) max[slot] = Math.max(max[slot] ?? value, value);
  }

  #columnsOf(name: string): Columns {
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    const empty = () => this.times.map(() => null);
    const columns: Columns = this.range.step === 1 ? [empty()] : [empty(), empty(), empty()];
    this.#series.set(name, columns);
    return columns;
  }

  /** Moves the slots, so that the last one begins at `end`. */
  #advance(end: number): void {
    const { seconds, step } = this.range;
    const { times } = this;
    if (end - (times.at(-1) ?? Number.NEGATIVE_INFINITY) > seconds) {
      this.#series.clear();
      times.length = 0;
      for (let time = end - seconds; time <= end; time += step) times.push(time);
    }
    for (let time = (times.at(-1) ?? end) + step; time <= end; time += step) {
      times.shift();
      times.push(time);
      for (const [name, columns] of this.#series) {
        for (const column of columns) {
          column?.shift();
          column?.push(null);
        }
        if (columns[0].every((point) => point === null)) this.#series.delete(name);
      }
    }
  }

  #clear(): void {
    this.times.length = 0;
    this.#series.clear();
    this.#last = Number.NEGATIVE_INFINITY;
    this.#first = Number.POSITIVE_INFINITY;
  }
}

/** Returns the sum of several series, times `factor`; unknown if all of them are. */
export function sumOf(parts: readonly Kept[], factor = 1): Kept {
  const sum = (of: (part: Kept) => readonly Point[]) =>
    (parts[0]?.mean ?? []).map((_, slot) =>
      parts.reduce<Point>((total, part) => {
        const value = of(part)[slot] ?? null;
        return value === null ? total : (total ?? 0) + value * factor;
      }, null),
    );
  return {
    mean: sum(({ mean }) => mean),
    min: sum(({ mean, min = mean }) => min),
    max: sum(({ mean, max = mean }) => max),
  };
}

/** In percent. */
export function shareOf(part: number | null, whole: number | null): Point {
  return part === null || whole === null || whole === 0 ? null : (100 * part) / whole;
}
