/** Messages between the store and its worker. */
import type { KeyUse } from '../../access/key-uses.ts';
import type { HistoryEvent, HistoryMark } from '../../wire/history.ts';
import type { Slot, StoreRequest } from '../history.ts';

/** The file's own unit of time: slots of 10 s, six of them in a minute. */
export const SLOT_SECONDS = 10;
export const SLOTS = 6;
export const MINUTE_SECONDS = 60;
/** Time that a summary on disk covers, and that of the longer ones, of which a row has a day. */
export const SPAN_SECONDS = 600;
export const QUARTER_SECONDS = 21_600;
export const QUARTERS = 4;
export const DAY_SECONDS = QUARTERS * QUARTER_SECONDS;

export const floorTo = (at: number, step: number): number => Math.floor(at / step) * step;

/** Slots without an object per value: one list of series for all, and three numbers per value. */
export interface PackedSlots {
  readonly names: readonly string[];
  readonly units: readonly string[];
  readonly slots: readonly PackedSlot[];
}

export interface PackedSlot {
  readonly at: number;
  /** Positions in `names`. */
  readonly series: Uint32Array;
  /** Mean, min and max of each. */
  readonly values: Float32Array;
  readonly processes: Slot['processes'];
}

/** The machine's time at the moment of a write. */
export interface Moment {
  /** Unix seconds. */
  readonly now: number;
  /** Seconds since boot, suspended time included. */
  readonly sinceBoot: number;
}

export interface BatchHead extends Moment {
  /** Maximum size of the file with its log. */
  readonly maxBytes: number;
}

/** The last uses of keys. */
export interface StoredUses {
  /** Unix milliseconds; uses before are not known. */
  readonly sinceMs: number;
  /** By the name of the key. */
  readonly uses: ReadonlyMap<string, KeyUse>;
}

export interface Batch extends BatchHead {
  readonly packed: PackedSlots;
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
  /** The clock was set back to this time: later values are dropped first. */
  readonly dropAfter: number | undefined;
  /** Where some are new. */
  readonly keyUses?: StoredUses | undefined;
  /** The answer is to have those of an earlier run. */
  readonly asksKeyUses?: boolean;
}

export type ReadRequest = Omit<StoreRequest, 'names'> & { readonly names: readonly string[] };

export interface Column {
  readonly name: string;
  readonly unit: string;
  /** NaN: not recorded. */
  readonly mean: Float32Array;
  readonly min: Float32Array;
  readonly max: Float32Array;
}

export interface ReadAnswer {
  /** Start of the first slot. */
  readonly start: number;
  readonly step: number;
  readonly columns: readonly Column[];
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
}

export type Request =
  | { readonly kind: 'write'; readonly batch: Batch }
  /** Writes, and ends the worker. */
  | { readonly kind: 'close'; readonly batch: Batch }
  | { readonly kind: 'read'; readonly request: ReadRequest }
  | { readonly kind: 'processes'; readonly at: number };
export type Numbered = Request & { readonly id: number };

/** For the log. */
export interface Notice {
  readonly level: 'error' | 'warn' | 'info';
  readonly text: string;
}

export type Answer =
  | {
      readonly kind: 'written';
      /** That the store does not know yet. */
      readonly names: readonly string[];
      readonly oldest?: number | undefined;
      readonly keyUses?: StoredUses | undefined;
      /** Those of this start, with the first answer. */
      readonly marks?: readonly HistoryMark[] | undefined;
    }
  | { readonly kind: 'read'; readonly answer: ReadAnswer | 'too_many' }
  | { readonly kind: 'processes'; readonly processes: Slot['processes'] }
  | { readonly kind: 'failed'; readonly reason: string };
export type Reply = Answer & { readonly id: number; readonly notices: readonly Notice[] };

/** Data that the worker is started with. */
export interface WorkerOptions {
  readonly hostwireStore: {
    readonly path: string;
    /** Unix seconds. */
    readonly startedAt: number;
  };
}
