/** A process that has ended and was not waited for: a zombie, whose end is known. */
import '../helpers/service/dead-buses.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { idAt, rowOf } from '#src/host/process-columns.js';
import { until } from '../helpers/until.ts';

const host = openNativeProcesses();

t.test('a process without threads that has ended stays a zombie', async (t) => {
  // It ends when the shell is the other program: a shell would wait for it.
  const child = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const pid = Number(String((await once(child.stdout, 'data'))[0]));
  await until(() => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z '));
  const columns = await host.read();
  const row = rowOf(columns, pid) ?? -1;
  t.equal(String.fromCharCode(columns.states[row] ?? 0), 'Z');
  t.strictSame(await host.waitForEnd([idAt(columns, row)], 0), [true]);
  t.equal(process.kill(pid, 0), true, 'its number is still taken');
});
