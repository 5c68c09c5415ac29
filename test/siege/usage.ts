/** Resources that the service uses, read from outside: memory, descriptors, CPU, and its log. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { anonymousPssBytesOf, cpuNsOf, median } from '../../bench/cpu.ts';
import type { ServiceProcess } from '../helpers/service/service.ts';

const MIB = 1 << 20;

export interface Usage {
  readonly memoryMib: number;
  readonly descriptors: number;
  readonly logLines: number;
  readonly cpuSeconds: number;
  /** How long its threads were ready and waited for a CPU, which others had: not the service's own doing. */
  readonly waitedSeconds: number;
}

/** Seconds that the threads of `pid` waited for a CPU: the second number of schedstat. */
export function waitedSecondsOf(pid: number): number {
  const waits = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[1]),
  );
  return waits.reduce((sum, ns) => sum + ns, 0) / 1e9;
}

/** Descriptors of `pid` that are no files below `tree`: as many of these are kept open as a machine has sensors. */
function descriptorsOf(pid: number, tree: string | undefined): number {
  const all = readdirSync(`/proc/${pid}/fd`);
  if (tree === undefined) return all.length;
  const isOfTree = (fd: string) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(tree);
    } catch {
      return false;
    }
  };
  return all.filter((fd) => !isOfTree(fd)).length;
}

/** `tree`: root of the machine that the service sees, where that is a copy. Throws when the process has ended. */
export function readUsage({ pid, stderr }: ServiceProcess, tree?: string): Usage {
  return {
    memoryMib: anonymousPssBytesOf(pid) / MIB,
    descriptors: descriptorsOf(pid, tree),
    logLines: stderr().split('\n').length - 1,
    cpuSeconds: cpuNsOf(pid) / 1e9,
    waitedSeconds: waitedSecondsOf(pid),
  };
}

/** The usual usage in a series: what one reading happens to see is left out. */
export function usualOf(series: readonly Usage[]): {
  readonly memoryMib: number;
  readonly descriptors: number;
} {
  return {
    memoryMib: median(series.map(({ memoryMib }) => memoryMib)),
    descriptors: median(series.map(({ descriptors }) => descriptors)),
  };
}

/** The greatest number of log lines within 60 readings, one per second. */
export function linesPerMinute(series: readonly Usage[]): number {
  const lines = series.map(({ logLines }) => logLines);
  return Math.max(0, ...lines.map((count, i) => count - (lines[Math.max(0, i - 60)] ?? 0)));
}
