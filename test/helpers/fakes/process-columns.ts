/** Readings of processes made of literals. */
import type { ProcessColumns } from '#src/host/processes.js';

export interface ProcessLiteral {
  readonly pid: number;
  readonly name?: string;
  readonly ppid?: number;
  readonly uid?: number;
  readonly threads?: number;
  /** The kernel's letter for the state. */
  readonly state?: string;
  readonly isKernelThread?: boolean;
  /** In ticks, 100 per second. */
  readonly start?: number;
  readonly cpu?: number;
  readonly memory?: number;
  /** Bytes read from disks; undefined: hidden. */
  readonly read?: number;
  readonly written?: number;
}

/** `seconds` after boot, which was at 1,000,000 s of Unix time, on a machine of two processors. */
export function processColumns(
  seconds: number,
  processes: readonly ProcessLiteral[],
  more: Partial<ProcessColumns> = {},
): ProcessColumns {
  const names = processes.map(({ name }) => Buffer.from(name ?? 'app'));
  let end = 0;
  return {
    takenAtNs: Math.round(seconds * 1e9),
    sinceBootNs: seconds * 1e9,
    unixMs: 1e9 + seconds * 1000,
    spentNs: 0,
    ticksPerSecond: 100,
    machineTicks: seconds * 200,
    pids: Int32Array.from(processes, ({ pid }) => pid),
    parentPids: Int32Array.from(processes, ({ ppid }) => ppid ?? 1),
    userIds: Uint32Array.from(processes, ({ uid }) => uid ?? 0),
    threads: Uint32Array.from(processes, ({ threads }) => threads ?? 1),
    states: Uint8Array.from(processes, ({ state }) => (state ?? 'S').charCodeAt(0)),
    kernelThreads: Uint8Array.from(processes, ({ isKernelThread }) => (isKernelThread ? 1 : 0)),
    startTicks: Float64Array.from(processes, ({ start }) => start ?? 100),
    cpuTicks: Float64Array.from(processes, ({ cpu }) => cpu ?? 0),
    residentBytes: Float64Array.from(processes, ({ memory }) => memory ?? 0),
    readBytes: Float64Array.from(processes, ({ read }) => read ?? Number.NaN),
    writeBytes: Float64Array.from(processes, ({ written }) => written ?? Number.NaN),
    names: Buffer.concat(names),
    nameEnds: Uint32Array.from(names, (name) => {
      end += name.length;
      return end;
    }),
    owners: { 0: 'root', 1000: 'ada' },
    ...more,
  };
}
