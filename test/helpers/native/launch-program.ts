/** Launches programs from a process of its own, whose limits launch-in.ts has set. Prints one line of JSON. */
import '../service/dead-buses.ts';
import { existsSync, openSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openNativeProcesses } from '#src/host/native.js';
import { FailControl } from '../machine/fail-control.ts';

export interface LaunchRun {
  /** Run by sh. It makes `marker`. */
  readonly script: string;
  readonly marker: string;
  /** How the launches are made harder. */
  readonly trouble: 'none' | 'no-descriptors' | 'failing-calls';
  /** The file of fail_nth.c. */
  readonly control: string;
}

export interface Launched {
  /** The calls that failed, with what the launch answered. */
  readonly calls: readonly string[];
  readonly problems: readonly string[];
}

/** Only guards against a process that never ends. */
const PATIENCE_MS = 60_000;

// Written by the test that starts this.
const run = JSON.parse(process.argv[2] ?? '') as LaunchRun;
const host = openNativeProcesses();
const request = { program: '/bin/sh', arguments: ['-c', run.script], environment: ['LD_PRELOAD='] };

/** True for a zombie too. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns what is wrong; undefined if the program has run and was reaped. */
async function judgeEnd(pid: number): Promise<string | undefined> {
  for (let waited = 0; exists(pid); waited += 5) {
    if (waited > PATIENCE_MS) return `${pid} is left`;
    await sleep(5);
  }
  return existsSync(run.marker) ? undefined : `${pid} has not run`;
}

const launch = (): Promise<number | Error> => host.launch(request).catch((error: Error) => error);

async function launchOnce(): Promise<Launched> {
  const answer = await launch();
  const problem = answer instanceof Error ? answer.message : await judgeEnd(answer);
  return { calls: [], problems: problem === undefined ? [] : [problem] };
}

/** Either the answer is an error and nothing has run, or the program has run and was reaped. */
async function failEach(): Promise<Launched> {
  const control = new FailControl(run.control);
  const calls: string[] = [];
  const problems: string[] = [];
  await launchOnce(); // Work that is done once per process.
  for (let nth = 1; ; nth++) {
    rmSync(run.marker, { force: true });
    control.arm('call', nth, constants.errno.EMFILE);
    const answer = await launch();
    const isReached = control.count >= nth;
    control.disarm();
    const isRefused = answer instanceof Error;
    const wrong = isRefused ? undefined : await judgeEnd(answer);
    if (!isReached) break;
    const { parentPids } = await host.read();
    if (wrong !== undefined) problems.push(`${control.what}: ${wrong}`);
    if (parentPids.includes(process.pid)) problems.push(`${control.what}: a child is left`);
    if (isRefused && existsSync(run.marker)) problems.push(`${control.what}: refused, but it has run`);
    calls.push(`${control.what.trim()}: ${isRefused ? answer.message : 'started'}`);
  }
  control.close();
  return { calls, problems };
}

function takeAllDescriptors(): void {
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch {
    // none is left
  }
}

if (run.trouble === 'no-descriptors') takeAllDescriptors();
console.log(JSON.stringify(run.trouble === 'failing-calls' ? await failEach() : await launchOnce()));
