/** The machine's processes: columns for a whole reading, and operations on single processes. */

/** Identifies a process, also among later ones with the same pid. */
export interface ProcessId {
  readonly pid: number;
  /** Since boot, in ticks. */
  readonly startTicks: number;
}

/**
 * All processes at one moment, by ascending pid: row `i` of each column is one process. 10,000 objects would cost the
 * JavaScript thread tens of milliseconds per reading, and only a few rows are ever shown.
 */
export interface ProcessColumns {
  /** Monotonic, without suspended time. Two readings with an equal value are the same reading. */
  readonly takenAtNs: number;
  readonly sinceBootNs: number;
  readonly unixMs: number;
  readonly ticksPerSecond: number;
  /** CPU time that the reading itself took, in its thread; if that is unknown, its wall time. */
  readonly spentNs: number;
  /** Ticks of all processors since boot, idle included; null where the system does not report them. */
  readonly machineTicks: number | null;
  readonly pids: Int32Array;
  readonly parentPids: Int32Array;
  /** All 0 in a reading of `latest`, which omits owners. */
  readonly userIds: Uint32Array;
  readonly threads: Uint32Array;
  /** ASCII codes of the kernel's letters: R runs, S and D wait, T is stopped, Z has ended, … */
  readonly states: Uint8Array;
  /** 1 for a kernel thread. */
  readonly kernelThreads: Uint8Array;
  readonly startTicks: Float64Array;
  readonly cpuTicks: Float64Array;
  readonly residentBytes: Float64Array;
  /** Read from disks since the process started; NaN if hidden. null in a reading without disks. */
  readonly readBytes: Float64Array | null;
  readonly writeBytes: Float64Array | null;
  /** All names, concatenated; `nameEnds` has the byte offset of the end of each. */
  readonly names: Buffer;
  readonly nameEnds: Uint32Array;
  /** User names by id; a user without a name is absent. */
  readonly owners: Readonly<Record<number, string>>;
}

/** Facts that are read for a single process on request. null: hidden from the service's user. */
export interface ProcessFacts extends ProcessId {
  readonly path: string | null;
  readonly folder: string | null;
  readonly openFiles: number | null;
  /** Empty: a kernel thread, or hidden. */
  readonly command: readonly string[];
}

export type EndSignal = 'term' | 'kill' | 'stop' | 'continue';

export interface LaunchRequest {
  /** An absolute path. */
  readonly program: string;
  readonly arguments: readonly string[];
  /** `NAME=value`, added to the service's environment. */
  readonly environment: readonly string[];
  readonly folder?: string;
}

/** The machine's processes. Implemented by the addon, and by fixtures in tests. */
export interface ProcessHost {
  /** Returns the last reading of the process thread, the same object each time; null before the first. Never waits. */
  latest(): ProcessColumns | null;
  /** Makes that thread read `inMs` from now, instead of at an earlier request that has not begun. */
  ask(inMs: number): void;
  /** Makes the next reading of that thread include `readBytes` and `writeBytes`. */
  includeDisks(): void;
  /**
   * Takes a reading with owners now; `withDisks`: also with `readBytes` and `writeBytes`. Rejects with the system's
   * error.
   */
  read(withDisks?: boolean): Promise<ProcessColumns>;
  /** Returns null if the process does not exist. */
  readDetails(pid: number): Promise<ProcessFacts | null>;
  /** Returns the paths of the programs, in the order of `processes`. */
  readPaths(processes: readonly ProcessId[]): Promise<readonly (string | null)[]>;
  /** Returns why processes cannot be controlled here; null when they can. */
  whyNoControl(): string | null;
  /** 'gone': it has ended (a later process with its pid is never signalled). 'denied': no permission. */
  signal(process: ProcessId, signal: EndSignal): 'sent' | 'gone' | 'denied';
  /** Resolves when all have ended or the time is up; for each process, whether it has ended. */
  waitForEnd(processes: readonly ProcessId[], timeoutMs: number): Promise<readonly boolean[]>;
  /** Resolves with the pid of the program once everything that can fail has succeeded. */
  launch(request: LaunchRequest): Promise<number>;
}
