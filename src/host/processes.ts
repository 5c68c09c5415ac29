/** What the service knows of the machine's processes: columns for a whole reading, and the few acts on one. */

/** A process, told apart from a later one with the same number. */
export interface ProcessId {
  readonly pid: number;
  /** Since boot, in ticks. */
  readonly startTicks: number;
}

/**
 * All processes at one moment, by ascending number: row `i` of each column is one process. Ten thousand objects would
 * cost the thread of JavaScript tens of milliseconds a reading, and only a few rows are ever shown.
 */
export interface ProcessColumns {
  /** Monotonic, does not count suspend. Two readings with the same one are the same reading. */
  readonly takenAtNs: number;
  readonly sinceBootNs: number;
  readonly unixMs: number;
  readonly ticksPerSecond: number;
  /** What all processors together have counted since boot, idle included; null where the system does not say. */
  readonly machineTicks: number | null;
  readonly pids: Int32Array;
  readonly parentPids: Int32Array;
  /** All 0 in what `latest` returns: it leaves owners out. */
  readonly userIds: Uint32Array;
  readonly threads: Uint32Array;
  /** ASCII codes of the kernel's letters: R runs, S and D wait, T is stopped, Z has ended, … */
  readonly states: Uint8Array;
  /** 1 for a thread of the kernel. */
  readonly kernelThreads: Uint8Array;
  readonly startTicks: Float64Array;
  readonly cpuTicks: Float64Array;
  readonly residentBytes: Float64Array;
  /** All names in one text, and where each ends in it, in bytes. */
  readonly names: Buffer;
  readonly nameEnds: Uint32Array;
  /** Names of users, by their ids; those without one are left out. */
  readonly owners: Readonly<Record<number, string>>;
}

/** What takes a question of its own to a process. Null: hidden from this service's user. */
export interface ProcessFacts extends ProcessId {
  readonly path: string | null;
  readonly folder: string | null;
  readonly openFiles: number | null;
  /** Empty: a thread of the kernel, or hidden. */
  readonly command: readonly string[];
}

export type EndSignal = 'term' | 'kill' | 'stop' | 'continue';

export interface LaunchRequest {
  /** An absolute path. */
  readonly program: string;
  readonly arguments: readonly string[];
  /** `NAME=value`, laid over the service's own. */
  readonly environment: readonly string[];
  readonly folder?: string;
}

/** The machine's processes. Implemented by the addon, and by fixtures in tests. */
export interface ProcessHost {
  /**
   * The last reading that was made on another thread, or null until there is one; has the next one made shortly before
   * `nextInMs` from now. Never waits.
   */
  latest(nextInMs: number): ProcessColumns | null;
  /** A reading with owners, taken now. Rejects with an Error of the system's. */
  read(): Promise<ProcessColumns>;
  /** null: there is no such process. */
  readDetails(pid: number): Promise<ProcessFacts | null>;
  /** The programs' paths, beside `processes`. */
  readPaths(processes: readonly ProcessId[]): Promise<readonly (string | null)[]>;
  /** Why nothing can be done to processes here; null where it can. */
  whyNoControl(): string | null;
  /** 'gone': it has ended; another one with its number is never reached. 'denied': this service's user may not. */
  signal(process: ProcessId, signal: EndSignal): 'sent' | 'gone' | 'denied';
  /** Says of each process whether it has ended, when all have or time is up. */
  waitForEnd(processes: readonly ProcessId[], timeoutMs: number): Promise<readonly boolean[]>;
  launch(request: LaunchRequest): Promise<ProcessId>;
}
