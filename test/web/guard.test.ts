/** The page offers to end exactly those processes that the service would end. */
import t from 'tap';
import { whyProtected } from '#src/commands/process-guards.js';
import { nameOf } from '#src/host/process-columns.js';
import { guardOf } from '../../web/cards/processes/guard.ts';
import { type ProcessLiteral, processColumns } from '../helpers/fakes/process-columns.ts';

const OWN = 900;
const ADA = 1000;

const MACHINE: readonly ProcessLiteral[] = [
  { pid: 1, name: 'systemd', ppid: 0 },
  { pid: 2, name: 'kthreadd', ppid: 0, isKernelThread: true },
  { pid: 17, name: 'kworker/0:1', ppid: 2, isKernelThread: true },
  { pid: 300, name: 'systemd-journald' },
  { pid: 310, name: 'systemd', uid: ADA },
  { pid: 311, name: '(sd-pam)', ppid: 310, uid: ADA },
  { pid: 320, name: 'runsvdir' },
  { pid: 321, name: 'dinit' },
  { pid: 330, name: 'lsass.exe' },
  { pid: 331, name: 'WinLogon.exe' },
  { pid: 332, name: 'services' },
  { pid: 800, name: 'sshd' },
  { pid: 850, name: 'bash', ppid: 800, uid: ADA },
  { pid: OWN, name: 'node', ppid: 850, uid: ADA },
  { pid: 901, name: 'child', ppid: OWN, uid: ADA },
  { pid: 950, name: 'bash', ppid: 1, uid: ADA },
  { pid: 960, name: 'sshd', ppid: 800 },
  { pid: 970, name: 'firefox', uid: ADA },
  { pid: 971, name: 'init-of-mine', uid: ADA },
];

const columns = processColumns(100, MACHINE);
const rowsOf = (machine: readonly ProcessLiteral[]) =>
  machine.map(({ pid, name = '', ppid = 1, uid = 0 }) => ({
    pid,
    name,
    ppid,
    user: uid === ADA ? 'ada' : 'root',
  }));
const rows = rowsOf(MACHINE);
const endable = (guard: ReturnType<typeof guardOf>) => rows.filter(guard.mayEnd).map(({ pid }) => pid);

t.test('a service of root: the same processes as by the rules of the service', async (t) => {
  const asRoot = rows.map((row) => (row.pid === OWN ? { ...row, user: 'root' } : row));
  const guard = guardOf(asRoot, { pid: OWN, platform: 'linux' });
  asRoot.forEach((row, at) => {
    const isFree = whyProtected(columns, at, OWN) === undefined;
    t.equal(guard.mayEnd(row), isFree, `${nameOf(columns, at)} (${row.pid})`);
  });
  t.strictSame(endable(guard), [332, 901, 950, 960, 970, 971]);
});

t.test('a service of a user: only those of that user', async (t) => {
  const guard = guardOf(rows, { pid: OWN, platform: 'linux' });
  t.strictSame(endable(guard), [901, 950, 970, 971]);
});

t.test('a name: only when each of its processes may be ended, and only when it is known', async (t) => {
  const guard = guardOf(rows, { pid: OWN, platform: 'linux' });
  const may = ['bash', 'sshd', 'firefox', 'child', 'node', 'unheard-of'].filter(guard.mayEndAll);
  t.strictSame(may, ['firefox', 'child'], 'one bash is a parent of the service');
});

t.test('process 2 is a kernel thread only where it is kthreadd', async (t) => {
  const inContainer = rowsOf([
    { pid: 1, name: 'node', ppid: 0 },
    { pid: 2, name: 'worker', ppid: 1 },
    { pid: 3, name: 'child', ppid: 2 },
  ]);
  const guard = guardOf(inContainer, { pid: 1, platform: 'linux' });
  t.strictSame(inContainer.map(guard.mayEnd), [false, true, true]);
});

t.test('on Windows, or if the service is not found, the user does not decide', async (t) => {
  const user = (platform: string, pid: number) => endable(guardOf(rows, { pid, platform })).includes(960);
  t.equal(user('win32', OWN), true);
  t.equal(user('linux', OWN), false);
  t.equal(user('linux', 4711), true);
});
