/** Finds protected processes, and the processes of a tree. Pure: judges one reading. */
import { nameOf, rowOf } from '../host/process-columns.ts';
import type { ProcessColumns } from '../host/processes.ts';

const INIT = 1;
const ENDED = new Set(['Z'.charCodeAt(0), 'X'.charCodeAt(0)]);

/** Service managers: ending one ends its services. All parts of systemd, its user instances included. */
const INIT_SYSTEMS = new Set([
  'init',
  'systemd',
  '(sd-pam)',
  'openrc-init',
  'runit',
  'runsvdir',
  's6-svscan',
  'dinit',
]);

/** Without one of these Windows stops or signs all users out. By name, because not all of them may be queried. */
const WINDOWS_PARTS = new Set([
  'csrss.exe',
  'lsaiso.exe',
  'lsass.exe',
  'services.exe',
  'smss.exe',
  'wininit.exe',
  'winlogon.exe',
]);

/** A process that has ended and was not reaped yet: there is nothing left to end. */
export function isOver(columns: ProcessColumns, row: number): boolean {
  return ENDED.has(columns.states[row] ?? 0);
}

/** `pid`, its parent, and so on up. */
export function lineageOf(columns: ProcessColumns, pid: number): ReadonlySet<number> {
  const line = new Set<number>();
  for (let at = pid; at > 0 && !line.has(at); ) {
    line.add(at);
    const row = rowOf(columns, at);
    at = row === undefined ? 0 : (columns.parentPids[row] ?? 0);
  }
  return line;
}

/** Why the process at `row` must not be ended, as the end of a sentence; undefined where it may be. */
export function whyProtected(columns: ProcessColumns, row: number, ownPid: number): string | undefined {
  const pid = columns.pids[row] ?? 0;
  const name = nameOf(columns, row);
  if (columns.kernelThreads[row] === 1) return 'is a kernel thread';
  if (pid === INIT || INIT_SYSTEMS.has(name) || name.startsWith('systemd-'))
    return 'belongs to the init system';
  if (WINDOWS_PARTS.has(name.toLowerCase())) return 'is a process that Windows needs to run';
  if (pid === ownPid) return 'is this service itself';
  if (lineageOf(columns, ownPid).has(pid)) return 'is an ancestor of this service';
  return undefined;
}

/**
 * `rows` and all their descendants, parents before their children: a parent that supervises its children must not
 * restart one that was ended before it.
 */
export function treeOf(columns: ProcessColumns, rows: readonly number[]): readonly number[] {
  const children = new Map<number, number[]>();
  for (let row = 0; row < columns.pids.length; row++) {
    const parent = columns.parentPids[row] ?? 0;
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [row]);
    else known.push(row);
  }
  const tree = new Set(rows);
  for (const row of tree) for (const child of children.get(columns.pids[row] ?? 0) ?? []) tree.add(child);
  return [...tree];
}
