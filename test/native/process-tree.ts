/** Processes of a machine made here: the files to write, and how to read them back. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openNativeProcesses } from '#src/host/native.js';
import type { ProcessColumns, ProcessHost } from '#src/host/processes.js';
import { PATIENCE_MS } from '../helpers/limits.ts';
import { makeMachine, type Tree } from '../helpers/machine/tree.ts';

/** A line of proc_pid_stat(5). */
export function statLine(
  pid: number,
  comm: string | Buffer,
  more: Partial<Record<string, number | string>> = {},
): Buffer {
  const {
    state = 'S',
    ppid = 1,
    flags = 4194560,
    utime = 7,
    stime = 5,
    threads = 3,
    start = 250,
    rss = 2,
  } = more;
  const rest = `) ${state} ${ppid} 1 1 0 -1 ${flags} 1 2 3 4 ${utime} ${stime} 8 9 20 -5 ${threads} 0 ${start} 999 ${rss} 18446744073709551615 0\n`;
  return Buffer.concat([Buffer.from(`${pid} (`), Buffer.from(comm), Buffer.from(rest)]);
}

export function processesOf(t: Parameters<typeof makeMachine>[0], tree: Tree) {
  const machine = makeMachine(t, { 'proc/stat': 'cpu  100 20 30 800 10 3 2 0 0 0\n', ...tree });
  const { root } = machine;
  const roots = { proc: path.join(root, 'proc'), sys: path.join(root, 'sys'), files: root };
  return { machine, host: openNativeProcesses(roots) };
}

/** Returns the next reading of the host's own thread, after the last one. */
export async function readNext(host: ProcessHost): Promise<ProcessColumns> {
  const before = host.latest()?.takenAtNs ?? 0;
  host.ask(0);
  for (const limitMs = performance.now() + PATIENCE_MS; performance.now() < limitMs; ) {
    const columns = host.latest();
    if (columns !== null && columns.takenAtNs > before) return columns;
    await sleep(10);
  }
  throw new Error('no reading');
}
