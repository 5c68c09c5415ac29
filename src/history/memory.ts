/**
 * The history in memory: a fine and a coarse ring per series, and the slot that is being filled. Reads no
 * clock.
 */
import { PLACES } from '../fairness/limits.ts';
import { FINE_SECONDS, type SeriesPoint, SLOT_SECONDS, type Summary } from './history.ts';
import { Ring } from './ring.ts';
import { Tally } from './tally.ts';

type SlotValues = Map<string, Summary & { readonly unit: string }>;

export const slotOf = (at: number) => Math.floor(at / SLOT_SECONDS);

class Series {
  readonly unit: string;
  readonly fine = new Ring(FINE_SECONDS, 1);
  coarse: Ring;
  /** The slot that is being filled. */
  #filling = new Tally();

  constructor(unit: string, slots: number) {
    this.unit = unit;
    this.coarse = new Ring(slots, 3);
  }

  /** Adds `value` at `second`, and in the `held` seconds before it that are after the last known one. */
  add(second: number, held: number, value: number): void {
    const begin = Math.min(second, Math.max(this.fine.last + 1, second - held));
    this.fine.putAll(begin, second, value);
    this.#filling.add(value);
  }

  get filling(): Summary | undefined {
    return this.#filling.summary;
  }

  close(slot: number): Summary | undefined {
    const { filling } = this;
    if (filling === undefined) return undefined;
    this.coarse.put(slot, filling.mean, filling.min, filling.max);
    this.clear();
    return filling;
  }

  clear(): void {
    this.#filling = new Tally();
  }
}

/** The known values of one series at a moment or in a slot. */
export interface SeriesReader {
  readonly unit: string;
  /** Returns the value at that Unix second; NaN if unknown. */
  fine(second: number): number;
  /** Returns the summary of that slot of 10 s; undefined if unknown. */
  coarse(slot: number): Summary | undefined;
}

export class Memory {
  #slots: number;
  readonly #series = new Map<string, Series>();
  /** The slot that is being filled; -Infinity before the first value. */
  #slot = Number.NEGATIVE_INFINITY;
  /** Values before it are forgotten; Infinity before the first value. */
  #firstSlot = Number.POSITIVE_INFINITY;

  constructor(minutes: number) {
    this.#slots = (minutes * 60) / SLOT_SECONDS;
  }

  /** Returns all series by name, in the order of their first values. */
  get names(): Iterable<string> {
    return this.#series.keys();
  }

  /** Returns the size of the rings in bytes. */
  get bytes(): number {
    let bytes = 0;
    for (const { fine, coarse } of this.#series.values()) bytes += fine.bytes + coarse.bytes;
    return bytes;
  }

  /** Returns the oldest slot that may have values; Infinity without any. */
  get firstSlot(): number {
    return Math.max(this.#firstSlot, this.#slot - this.#slots + 1);
  }

  reader(name: string): SeriesReader | undefined {
    const series = this.#series.get(name);
    if (series === undefined) return undefined;
    return {
      unit: series.unit,
      fine: (second) => series.fine.get(second, 0),
      coarse: (slot) => (slot === this.#slot ? series.filling : undefined) ?? stored(series.coarse, slot),
    };
  }

  /**
   * Ends the slot that is being filled if `at` (Unix seconds) is after it, and returns it; undefined if it continues or
   * has no values. Series without a value in all that time are dropped.
   */
  advance(at: number): { readonly at: number; readonly values: SlotValues } | undefined {
    const slot = slotOf(at);
    if (slot <= this.#slot) return undefined;
    const ended = this.#slot;
    const values: SlotValues = new Map();
    for (const [name, series] of this.#series) {
      const summary = series.close(ended);
      if (summary !== undefined) values.set(name, { ...summary, unit: series.unit });
      else if (series.fine.last < at - Math.max(FINE_SECONDS, this.#slots * SLOT_SECONDS))
        this.#series.delete(name);
    }
    this.#slot = slot;
    this.#firstSlot = Math.min(this.#firstSlot, slot);
    return values.size === 0 ? undefined : { at: ended * SLOT_SECONDS, values };
  }

  /**
   * Adds the points of a sample that was taken at `at`, after `advance(at)`. `held`: number of seconds before it for
   * which they hold. Returns how many series were refused.
   */
  add(at: number, held: number, points: readonly SeriesPoint[]): number {
    const second = Math.floor(at);
    let refused = 0;
    for (const { name, unit, value } of points) {
      if (value === null || !Number.isFinite(value)) continue;
      let series = this.#series.get(name);
      if (series === undefined) {
        if (this.#series.size >= PLACES.series.max) {
          refused++;
          continue;
        }
        series = new Series(unit, this.#slots);
        this.#series.set(name, series);
      }
      series.add(second, held, value);
    }
    return refused;
  }

  /** Forgets the slot that contains `at` and those after it: the clock was set back to `at`. */
  dropFrom(at: number): void {
    const slot = slotOf(at);
    for (const { fine, coarse } of this.#series.values()) {
      fine.dropFrom(Math.floor(at));
      coarse.dropFrom(slot);
    }
    if (slot > this.#slot) return;
    for (const series of this.#series.values()) series.clear();
    // Slots that were already forgotten remain so.
    this.#firstSlot = Math.min(this.firstSlot, slot);
    this.#slot = slot;
  }

  /** Keeps the values that fit. */
  resize(minutes: number): void {
    this.#firstSlot = this.firstSlot;
    this.#slots = (minutes * 60) / SLOT_SECONDS;
    this.#firstSlot = this.firstSlot;
    for (const series of this.#series.values()) {
      const coarse = new Ring(this.#slots, 3);
      coarse.copy(series.coarse);
      series.coarse = coarse;
    }
  }
}

function stored(ring: Ring, slot: number): Summary | undefined {
  const mean = ring.get(slot, 0);
  if (Number.isNaN(mean)) return undefined;
  return { mean, min: ring.get(slot, 1), max: ring.get(slot, 2) };
}
