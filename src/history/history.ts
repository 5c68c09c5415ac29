/** Types shared by the parts of the history. */
import type {
  HistoryEvent,
  HistoryMark,
  HistoryPayload,
  ProcessHistoryPayload,
  ProcessUses,
} from '../wire/history.ts';

/** Length of a slot of the coarse history. */
export const SLOT_SECONDS = 10;
/** Time for which each second is kept separately. */
export const FINE_SECONDS = 300;

export interface HistoryRequest {
  /** Names, where `*` stands for any text; empty: the series of a default payload. */
  readonly series: readonly string[];
  /** Unix seconds; negative: before now. */
  readonly since: number;
  /** Unix seconds; undefined: now. */
  readonly until: number | undefined;
  /** Seconds; undefined: chosen for the length of the time. */
  readonly step: number | undefined;
}

/** The history as HTTP, the WebSocket and exporters use it. */
export interface History {
  /** false while `history.minutes` is 0. */
  readonly isOn: boolean;
  /** Rejects only on an internal failure. `too_many`: more numbers than one answer may have. */
  query(request: HistoryRequest): Promise<HistoryPayload | 'too_many'>;
  /** Returns the programs that ran at `at`, in Unix seconds. */
  processesAt(at: number): Promise<ProcessHistoryPayload>;
  /** Calls `listener` with each event of a watch rule, until the returned function is called. */
  onEvent(listener: (event: HistoryEvent) => void): () => void;
}

/** One series of a sample: its name, its unit, and its value now (null: not readable). */
export interface SeriesPoint {
  readonly name: string;
  readonly unit: string;
  readonly value: number | null;
}

export interface Summary {
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

/** Ten seconds that have passed. */
export interface Slot {
  /** Unix seconds, a multiple of SLOT_SECONDS. */
  readonly at: number;
  /** By the names of series; a series without a value in these seconds is absent. */
  readonly values: ReadonlyMap<string, Summary & { readonly unit: string }>;
  readonly processes:
    | (ProcessUses & { readonly takenAt: number; readonly windowSeconds: number | null })
    | undefined;
}

/** The history on disk. It never makes the JavaScript thread wait. */
export interface Store {
  /** Time of the oldest values, in Unix seconds; undefined: there are none, or it is not known yet. */
  readonly oldest?: number | undefined;
  /** Takes a slot that has ended; written with the next minute's transaction. Never throws. */
  put(slot: Slot): void;
  mark(mark: HistoryMark): void;
  event(event: HistoryEvent): void;
  /**
   * Returns the stored values of these series between `from` and `until`, in Unix seconds, in slots of `step`. Rejects
   * when the disk does not answer. `too_many`: more numbers than one answer may have.
   */
  read(request: StoreRequest): Promise<StoreAnswer | 'too_many'>;
  processesAt(at: number): Promise<Slot['processes']>;
  /**
   * Writes the remaining slots, for at most 500 ms. Resolves with false if its thread hangs in the kernel: process.exit
   * would wait for it (NativeProcess.exitNow does not).
   */
  close(): Promise<boolean>;
}

export interface StoreRequest {
  readonly names: (name: string) => boolean;
  readonly from: number;
  readonly until: number;
  readonly step: number;
}

export interface StoreAnswer {
  /** As requested, or greater: 600 s and its multiples if only summaries are kept. */
  readonly step: number;
  readonly slots: readonly Slot[];
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
}
