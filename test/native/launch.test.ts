/** Launched programs get the limits that the service was started with, and a launch that was answered is never undone. */
import '../helpers/service/dead-buses.ts';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { openNativeProcesses } from '#src/host/native.js';
import { CONTROL_BYTES } from '../helpers/machine/fail-control.ts';
import { programPath, whyNoProgram } from '../helpers/native/program.ts';
import type { Launched, LaunchRun } from './launch-program.ts';

const skip = openNativeProcesses().whyNoControl() ?? false;
const program = path.join(import.meta.dirname, 'launch-program.js');

interface Setting {
  readonly trouble: LaunchRun['trouble'];
  /** Shell commands for the process that launches. */
  readonly before?: string;
  readonly env?: NodeJS.ProcessEnv;
}

interface Result extends Launched {
  /** What the last launched program reports: its soft and hard limit of open files, and its umask. */
  readonly report: string;
}

async function launchIn(t: Test, { trouble, before = ':', env = {} }: Setting): Promise<Result> {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-launch-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const marker = path.join(folder, 'marker');
  const control = path.join(folder, 'control');
  writeFileSync(control, Buffer.alloc(CONTROL_BYTES));
  const script = `echo $(ulimit -Sn) $(ulimit -Hn) $(umask) > '${marker}'`;
  const run: LaunchRun = { script, marker, trouble, control };
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', `${before}; exec "$@"`, 'sh', process.execPath, program, JSON.stringify(run)],
    { env: { ...process.env, HOSTWIRE_FAIL_CONTROL: control, ...env } },
  );
  return { ...JSON.parse(stdout), report: readFileSync(marker, 'utf8').trim() };
}

t.test('[7.launch] the limits are not those that Node has raised for itself', { skip }, async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 4096; umask 027';
  const { report, problems } = await launchIn(t, { trouble: 'none', before });
  t.strictSame(problems, []);
  t.equal(report, '1024 4096 0027', 'soft, hard, umask');
  const low = await launchIn(t, { trouble: 'none', before: 'ulimit -Sn 300; ulimit -Hn 600' });
  t.match(low.report, /^600 600 /, 'a soft limit is never above the hard one');
});

t.test('[7.launch] without a free descriptor a program starts and is reaped', { skip }, async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 300';
  const { report, problems } = await launchIn(t, { trouble: 'no-descriptors', before });
  t.strictSame(problems, []);
  t.match(report, /^300 300 /);
});

t.test(
  '[7.launch] whichever call fails: an error and nothing was started, or a program that is reaped',
  { skip: skip || whyNoProgram('fail_nth.so') },
  async (t) => {
    const env = { LD_PRELOAD: programPath('fail_nth.so') };
    const { calls, problems } = await launchIn(t, { trouble: 'failing-calls', env });
    t.comment(calls.join('\n'));
    t.strictSame(problems, []);
    t.ok(
      calls.some((call) => call.startsWith('pthread_create')),
      'a thread that cannot start was among them',
    );
  },
);
