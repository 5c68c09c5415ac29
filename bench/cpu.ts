/** Measures CPU time and memory of processes from outside; the ABBA order and the medians that make figures comparable. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Sums the CPU time of the living threads of `pid` in nanoseconds: the first number of /proc/PID/task/TID/schedstat.
 */
export function cpuNsOf(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]);
  return sum;
}

/** Returns one line of /proc/PID/smaps_rollup in bytes. */
function rollupBytesOf(pid: number, key: string): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const kib = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
  if (kib === undefined) throw new Error(`no ${key} of process ${pid}`);
  return Number(kib) * 1024;
}

/** Returns the proportional set size of `pid` in bytes: pages shared with other processes count in parts. */
export function pssBytesOf(pid: number): number {
  return rollupBytesOf(pid, 'Pss');
}

/**
 * Returns the anonymous part, which the process itself allocates. The rest is mostly Node's own code, whose share
 * changes by ten megabytes when another Node process on the machine ends or starts.
 */
export function anonymousPssBytesOf(pid: number): number {
  return rollupBytesOf(pid, 'Pss_Anon');
}

/** CPU time of the whole machine in nanoseconds: user, nice, system, irq, softirq of /proc/stat, in ticks. */
export function machineBusyNs(): number {
  const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * 1e7;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[(sorted.length >> 1) - 1] ?? Number.NaN)) / 2;
}

/** Returns the order ABBA: a machine that becomes slower or faster affects all equally. */
export function abba<T>(items: readonly T[]): readonly T[] {
  return [...items, ...[...items].reverse()];
}
