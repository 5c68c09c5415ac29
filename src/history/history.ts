/** What the parts of the history know of each other. */
import type {
  HistoryEvent,
  HistoryMark,
  HistoryPayload,
  ProcessHistoryPayload,
  ProcessUses,
} from '../wire/history.ts';

/** Length of a slot of the coarse history. */
export const SLOT_SECONDS = 10;
/** How long each second is kept by itself. */
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

/** The history as HTTP, the WebSocket and exporters see it. */
export interface History {
  /** false while `history.minutes` is 0. */
  readonly isOn: boolean;
  /** Rejects only when something is broken. `too_many`: more numbers than one answer may have. */
  query(request: HistoryRequest): Promise<HistoryPayload | 'too_many'>;
  /** What ran at `at`, in Unix seconds. */
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

/** 10 seconds that are over. */
export interface Slot {
  /** Unix seconds, a multiple of SLOT_SECONDS. */
  readonly at: number;
  /** By the names of series; one without a value in these seconds is absent. */
  readonly values: ReadonlyMap<string, Summary & { readonly unit: string }>;
  readonly processes:
    | (ProcessUses & { readonly takenAt: number; readonly windowSeconds: number | null })
    | undefined;
}

/** The history on disk. Nothing of it waits on the JavaScript thread. */
export interface Store {
  /** Takes a slot that is over; written with the next minute's transaction. Never throws. */
  put(slot: Slot): void;
  mark(mark: HistoryMark): void;
  event(event: HistoryEvent): void;
  /**
   * What is on disk of these series between `from` and `until`, in Unix seconds, in slots of `step`. Rejects when the disk
   * does not answer. `too_many`: more numbers than one answer may have.
   */
  read(request: StoreRequest): Promise<StoreAnswer | 'too_many'>;
  processesAt(at: number): Promise<Slot['processes']>;
  /**
   * Writes what it has, for at most 500 ms. False: its thread hangs in the kernel, and process.exit would wait for it
   * (NativeProcess.exitNow does not).
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
  /** As requested, or greater: 600 s and its multiples where only summaries are kept. */
  readonly step: number;
  readonly slots: readonly Slot[];
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
}
