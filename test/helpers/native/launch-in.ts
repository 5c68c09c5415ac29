/** Launches programs from a process of its own: the descriptors, limits and failing calls there trouble no test. */
import '../service/dead-buses.ts';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { CONTROL_BYTES } from '../machine/fail-control.ts';
import { emptyFolder } from '../scope.ts';
import type { Launched, LaunchRun } from './launch-program.ts';

const program = path.join(import.meta.dirname, 'launch-program.js');

interface Setting {
  readonly trouble: LaunchRun['trouble'];
  /** Shell commands for the process that launches. */
  readonly before?: string;
  readonly env?: NodeJS.ProcessEnv;
}

interface Result extends Launched {
  /** Report of the last launched program: its soft and hard limit of open files, and its umask. */
  readonly report: string;
}

export async function launchIn(t: Test, { trouble, before = ':', env = {} }: Setting): Promise<Result> {
  const folder = emptyFolder(t, 'launch');
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
