/** Every fallible call of the readers fails once, one after the other: no crash, valid JSON, and full recovery. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { CONTROL_BYTES } from '../../helpers/machine/fail-control.ts';
import { openFixture } from '../../helpers/machine/fixtures.ts';
import { programPath, whyNoProgram } from '../../helpers/native/program.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import type { FailedCall, FailingEnd, FailingRun } from '../fail-nth-program.ts';

const program = path.join(import.meta.dirname, '../fail-nth-program.js');
const isFull = process.env['HOSTWIRE_FULL'] === '1';

/** One with sensors, a battery and mounts, one with devices of two kinds of graphics driver; in full one of a third. */
const MACHINES = ['laptop', 'gpu-hybrid', ...(isFull ? ['gpu-amd-laptop'] : [])];
/** The short form skips calls; the steps are primes, so that they do not always hit the same call of a loop. */
const STEPS = isFull ? { call: 1, allocation: 1 } : { call: 11, allocation: 17 };

t.setTimeout(isFull ? 1_200_000 : 280_000);

interface Outcome {
  readonly failure: string;
  readonly calls: readonly FailedCall[];
  readonly end: FailingEnd | undefined;
}

function start(library: string, run: FailingRun): Promise<Outcome> {
  const env = { ...process.env, LD_PRELOAD: library, HOSTWIRE_FAIL_CONTROL: run.control };
  const args = ['--expose-gc', program, JSON.stringify(run)];
  return new Promise((resolve) => {
    const options = { env, maxBuffer: 256 * 1024 ** 2 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const lines: readonly (FailedCall | FailingEnd)[] = stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      const calls = lines.filter((line) => 'nth' in line);
      const end = lines.find((line) => 'descriptorsAfter' in line);
      const failure =
        error === null ? stderr : `${error.signal ?? error.code} after ${calls.at(-1)?.nth}: ${stderr}`;
      resolve({ failure, calls, end });
    });
  });
}

async function failAll(t: Test, library: string, name: string, kind: FailingRun['kind']): Promise<void> {
  const machine = openFixture(t, name);
  const folder = emptyFolder(t, 'fail');
  const roots = {
    proc: path.join(machine.root, 'proc'),
    sys: path.join(machine.root, 'sys'),
    files: machine.root,
    nvml: path.join(machine.root, 'libnvidia-ml.so.1'),
  };
  const control = path.join(folder, 'control');
  writeFileSync(control, Buffer.alloc(CONTROL_BYTES));
  const { failure, calls, end } = await start(library, { roots, control, kind, first: 1, step: STEPS[kind] });
  t.equal(failure, '', 'the process came to its end and complained of nothing');
  t.ok(calls.length > 20, 'many calls failed');
  for (const call of calls)
    if (call.problems.length > 0)
      t.fail(`call ${call.nth} (${call.what}: ${call.errno})`, {
        problems: call.problems,
        logged: call.logged,
      });
  const leaked = end === undefined ? Number.NaN : end.descriptorsAfter - end.descriptorsBefore;
  t.ok(leaked <= 2, 'no descriptor is left open', { end });
  const kinds = new Set(calls.map(({ what }) => what.split(' ')[0]));
  const later = calls.filter((call) => !call.isBackAtOnce).length;
  const logged = calls.filter((call) => call.logged.length > 0).length;
  t.comment(
    `figure: ${name}, ${kind}s: ${calls.length} failed one by one (${[...kinds].sort().join(', ')}); ${logged} reported in the log, ${later} back at the next reading`,
  );
}

t.test('failing calls', { skip: whyNoProgram('fail_nth.so') || whyNoProgram('fake_nvml.so') }, async (t) => {
  const library = programPath('fail_nth.so');
  for (const name of MACHINES)
    for (const kind of ['call', 'allocation'] as const)
      await t.test(`${name}: each ${kind} fails once`, (t) => failAll(t, library, name, kind));
});
