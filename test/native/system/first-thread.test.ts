/** A process whose first thread has exited while others run, as Java and Python programs can be, is not a zombie. */
import '../../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { idAt, nameOf, rowOf } from '#src/host/process-columns.js';
import { needProgram, programPath } from '../../helpers/native/program.ts';
import { until } from '../../helpers/until.ts';

needProgram('first_thread_exits');
const PROGRAM = programPath('first_thread_exits');
/** The kernel cuts it at 15 bytes. */
const NAME = 'first_thread_exits';
const MIB = 2 ** 20;

const host = openNativeProcesses();
const skip = host.whyNoControl() ?? false;

/** Starts the program and returns when its first thread is a zombie. */
async function start(t: { teardown(done: () => unknown): unknown }) {
  const child = spawn(PROGRAM, ['argument'], { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  await until(() => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z '));
  return { child, ended, pid };
}

t.test('[7.first-thread] it is listed with its state, memory, name and path', { skip }, async (t) => {
  const { pid } = await start(t);
  const read = async () => {
    const columns = await host.read();
    const row = rowOf(columns, pid) ?? -1;
    return { columns, row, state: String.fromCharCode(columns.states[row] ?? 0) };
  };
  let { columns, row, state } = await read();
  // Its other thread has just begun, and will sleep.
  while (state === 'R') ({ columns, row, state } = await read());
  t.equal(state, 'S', 'it sleeps');
  t.equal(columns.threads[row], 2);
  t.equal(nameOf(columns, row), NAME);
  t.ok((columns.residentBytes[row] ?? 0) > 16 * MIB, `${columns.residentBytes[row]} bytes`);
  t.strictSame(await host.readPaths([idAt(columns, row)]), [PROGRAM]);
  const other = readdirSync(`/proc/${pid}/task`).find((id) => id !== String(pid));
  t.match(await host.readDetails(pid), {
    path: PROGRAM,
    folder: '/',
    openFiles: readdirSync(`/proc/${pid}/task/${other}/fd`).length,
    command: [PROGRAM, 'argument'],
  });
});

t.test('[7.first-thread] it has not ended, gets signals, and its end is waited for', { skip }, async (t) => {
  const { child, ended, pid } = await start(t);
  const columns = await host.read();
  const id = idAt(columns, rowOf(columns, pid) ?? -1);
  t.strictSame(await host.waitForEnd([id], 50), [false], 'it runs');
  if (!t.equal(host.signal(id, 'term'), 'sent')) return;
  t.strictSame(await host.waitForEnd([id], 60_000), [true]);
  await ended;
  t.equal(child.signalCode, 'SIGTERM');
  t.equal(host.signal(id, 'term'), 'gone');
});
