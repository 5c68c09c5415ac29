/**
 * Processes on the wire. `memory` is resident bytes (memory that processes share counts in each of them), `memory_mb`
 * the same in MiB, `cpu_time` the seconds of CPU time since the start, `cpu` percent of the whole machine since the
 * reading before: null in a first reading and for a process that is new in this one.
 */

interface ProcessUsage {
  readonly memory: number;
  readonly memory_mb: number;
  readonly cpu_time: number;
  readonly cpu: number | null;
}

/** All processes of one name. */
export interface ProcessGroup extends ProcessUsage {
  readonly name: string;
  readonly count: number;
}

/** One process, as in `processes` of a detailed sample. */
export interface ProcessShare extends ProcessUsage {
  readonly name: string;
  readonly pid: number;
}

export interface ProcessRow extends ProcessShare {
  readonly ppid: number;
  /** Its number, as text, where the user has no name. */
  readonly user: string;
  /** Unix seconds. */
  readonly started_at: number;
  readonly threads: number;
  /** Of the program; null where this service may not know it. */
  readonly path: string | null;
}

export interface ProcessListPayload {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Processes, however many rows follow. */
  readonly total_count: number;
  readonly processes: readonly (ProcessGroup | ProcessRow)[];
}

export interface ProcessDetailRow extends ProcessRow {
  readonly state: 'running' | 'sleeping' | 'waiting' | 'stopped' | 'ended' | 'idle' | 'unknown';
  readonly open_files: number | null;
  /** These two only while `features.enable_process_control` is on: command lines often hold secrets. */
  readonly command?: readonly string[];
  readonly cwd?: string | null;
}

/** All processes of one name, or the one of a number; at most 64 of them in `processes`. */
export interface ProcessDetailsPayload extends ProcessGroup {
  readonly timestamp: number;
  readonly processes: readonly ProcessDetailRow[];
}

/** In a detailed sample; each list has at most five rows. */
export interface ProcessSummary {
  readonly count: number;
  readonly running: number;
  /** null in the first reading. */
  readonly top_cpu: readonly ProcessShare[] | null;
  readonly top_memory: readonly ProcessShare[];
}

/** How `process.kill` or `process.launch` ended. */
export interface ProcessFeedback {
  readonly success: boolean;
  readonly action: 'kill' | 'launch';
  readonly message: string;
  readonly final: boolean;
  /** What was asked for; without a number when it was a name. */
  readonly pid?: number;
  readonly name?: string;
  /** Processes that have ended. */
  readonly count?: number;
}

export interface ProcessCapability {
  readonly enabled: boolean;
  readonly supported: boolean;
  /** Why it is not supported. */
  readonly reason: string | null;
}

/** In `capabilities` of /api/system with detail. */
export interface ProcessCapabilities {
  readonly list: ProcessCapability;
  readonly control: ProcessCapability;
}
