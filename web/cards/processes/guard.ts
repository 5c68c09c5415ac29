/**
 * Decides which processes the service would refuse to end: threads of the kernel, the init system, the service and its
 * parents; and those of other users, which the kernel refuses to a service that is not root. The first ones are the
 * rules of src/commands/process-guards.ts; test/web/guard.test.ts compares the two.
 */
import type { ProcessRow } from '../../../src/wire/process.ts';

const PROTECTED_NAMES = new Set([
  ...['init', 'systemd', '(sd-pam)', 'openrc-init', 'runit', 'runsvdir', 's6-svscan', 'dinit'],
  ...['csrss.exe', 'lsaiso.exe', 'lsass.exe', 'services.exe', 'smss.exe', 'wininit.exe', 'winlogon.exe'],
]);
const INIT_PID = 1;
/** The parent of all other threads of a Linux kernel. */
const KTHREADD = { pid: 2, name: 'kthreadd' } as const;

type Known = Pick<ProcessRow, 'name' | 'pid' | 'ppid' | 'user'>;

export interface Guard {
  readonly mayEnd: (row: Known) => boolean;
  /** Returns whether every process of that name may be ended; false for a name that is not known yet. */
  readonly mayEndAll: (name: string) => boolean;
}

export interface Service {
  readonly pid: number;
  /** As in /api/system: linux, win32. */
  readonly platform: string;
}

/** `rows`: all processes. */
export function guardOf(rows: readonly Known[], { pid: ownPid, platform }: Service): Guard {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const lineage = new Set<number>();
  for (let at = ownPid; at > 0 && !lineage.has(at); at = byPid.get(at)?.ppid ?? 0) lineage.add(at);
  const hasKernel = byPid.get(KTHREADD.pid)?.name === KTHREADD.name;
  const ownUser = platform === 'linux' ? byPid.get(ownPid)?.user : undefined;
  const isForeign = ({ user }: Known) => ownUser !== undefined && ownUser !== 'root' && user !== ownUser;
  const isKernel = ({ pid, ppid }: Known) => hasKernel && (pid === KTHREADD.pid || ppid === KTHREADD.pid);
  const isInit = ({ pid, name }: Known) =>
    pid === INIT_PID ||
    name.startsWith('systemd-') ||
    PROTECTED_NAMES.has(name) ||
    PROTECTED_NAMES.has(name.toLowerCase());
  const mayEnd = (row: Known) => !(isInit(row) || lineage.has(row.pid) || isKernel(row) || isForeign(row));
  const names = new Map<string, boolean>();
  for (const row of rows) names.set(row.name, (names.get(row.name) ?? true) && mayEnd(row));
  return { mayEnd, mayEndAll: (name) => names.get(name) ?? false };
}
