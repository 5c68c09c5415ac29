/** Processes of a machine on which some may not be ended, and of a crowded one. */
import process from 'node:process';
import type { ProcessLiteral } from '../../helpers/fakes/process-columns.ts';

const MIB = 1024 ** 2;
const ADA = 1000;

/** The service is this process, of the user ada, started from a shell. */
const guarded: readonly ProcessLiteral[] = [
  { pid: 1, name: 'systemd', ppid: 0, memory: 13 * MIB },
  { pid: 2, name: 'kthreadd', ppid: 0, memory: 0, isKernelThread: true },
  { pid: 40, name: 'kworker/0:1', ppid: 2, memory: 0, isKernelThread: true },
  { pid: 501, name: 'sshd', ppid: 1, memory: 9 * MIB },
  { pid: 600, name: 'fish', ppid: 1, uid: ADA, memory: 7 * MIB },
  { pid: process.pid, name: 'hostwire', ppid: 600, uid: ADA, memory: 70 * MIB },
  ...[700, 701, 702].map((pid) => ({ pid, name: 'firefox', uid: ADA, memory: 300 * MIB, threads: 41 })),
  { pid: 710, name: 'gedit', uid: ADA, memory: 40 * MIB, threads: 4, start: 5000 },
];
/** In the order of a reading. */
export const GUARDED = guarded.toSorted((a, b) => a.pid - b.pid);

/** Processes with names of their own. */
export const crowd = (count: number): readonly ProcessLiteral[] =>
  Array.from({ length: count }, (_, i) => ({
    pid: 10 + i,
    name: `program-${String(i).padStart(5, '0')}`,
    memory: (count - i) * MIB,
  }));
