/** Real processes, all of them this test's own: trees, stubborn ones, zombies, ones that exit during a request, launched ones. */
import '../helpers/service/dead-buses.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { feedbackCodeOf } from '#src/commands/feedback.js';
import { ProcessControl, processCommands } from '#src/commands/process.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { LaunchEntry } from '#src/config/rows/key-table.js';
import { ServiceError } from '#src/errors.js';
import { openNativeProcesses } from '#src/host/native.js';
import { idAt, nameOf, rowOf } from '#src/host/process-columns.js';
import type { ProcessId } from '#src/host/processes.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import type { Params } from '#src/params.js';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';
import { checkTime } from '../helpers/limits.ts';
import { launchIn } from '../helpers/native/launch-in.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { until } from '../helpers/until.ts';

const host = openNativeProcesses();

const folder = emptyFolder(t, 'kill');

/** A name that no other process has. */
const unique = (word: string) => `hw-${word}-${process.pid}`;

const apps: Record<string, LaunchEntry> = {};
const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_process_control: true });
config.apps = apps;
const control = new ProcessControl({
  host,
  ownPid: process.pid,
  config,
  log: createLog(() => undefined),
});
const commands = new Commands(processCommands(control), config);

async function run(name: string, params: Params): Promise<Readonly<Record<string, unknown>>> {
  const outcome = await invoke(commands, name, params, SENDER);
  return outcome.result;
}

async function refusal(name: string, params: Params): Promise<string> {
  try {
    await run(name, params);
  } catch (error) {
    if (error instanceof ServiceError) return feedbackCodeOf(error);
    throw error;
  }
  return 'none';
}

interface Scope {
  teardown(done: () => unknown): unknown;
}

/** Runs `script` in its own group, which is gone when the test is over; resolves when it reports that it is ready. */
async function start(
  t: Scope,
  script: string,
): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
  const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const pid = child.pid ?? 0;
  t.teardown(async () => {
    try {
      // The whole group, which only this test has put processes into.
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
    await ended;
  });
  if (child.stdout === null) throw new Error('no output');
  await once(child.stdout, 'data');
  return { child, pid };
}

const idOf = async (pid: number): Promise<ProcessId | undefined> => {
  const columns = await host.read();
  const row = rowOf(columns, pid);
  return row === undefined ? undefined : idAt(columns, row);
};

/** Returns the processes of `name` that have not exited. */
async function running(name: string): Promise<readonly number[]> {
  const columns = await host.read();
  return [...columns.pids].filter(
    (_, row) => nameOf(columns, row) === name && columns.states[row] !== 'Z'.charCodeAt(0),
  );
}

t.test('[7.kill] a process that handles SIGTERM ends, and its end is waited for', async (t) => {
  const { child, pid } = await start(
    t,
    'trap "sleep 0.3; exit 0" TERM; echo on; while :; do sleep 0.05; done',
  );
  const began = performance.now();
  t.match(await run('process.kill', { pid }), { success: true, pid, name: 'sh', count: 1 });
  t.ok(performance.now() - began >= 250, 'the answer comes when it has ended');
  if (child.exitCode === null) await once(child, 'exit');
  t.equal(child.exitCode, 0, 'by itself');
});

t.test('[7.kill-timeout] a process that ignores SIGTERM: TIMEOUT, and kill forces it', async (t) => {
  const { child, pid } = await start(
    t,
    'trap "" TERM; echo on; i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done',
  );
  const began = performance.now();
  t.equal(await refusal('process.kill', { pid, timeout_ms: 300 }), 'TIMEOUT');
  const took = performance.now() - began;
  t.ok(took >= 300, `${took.toFixed()} ms`);
  checkTime(t, took, 2000, 'the time-out of 300 ms');
  t.equal(child.exitCode, null);
  t.match(await run('process.kill', { pid, signal: 'kill' }), { success: true });
  if (child.signalCode === null) await once(child, 'exit');
  t.equal(child.signalCode, 'SIGKILL');
  t.equal(await refusal('process.kill', { pid }), 'NOT_FOUND');
});

t.test('[7.kill] a stopped process gets SIGTERM and SIGCONT', async (t) => {
  const { child, pid } = await start(t, 'echo on; exec sleep 60');
  child.kill('SIGSTOP');
  t.match(await run('process.kill', { pid }), { success: true });
});

t.test(
  '[7.kill-not-found] a process that exits during the request, and one that has exited and waits for its parent',
  async (t) => {
    const { child, pid } = await start(t, 'echo on; exec sleep 60');
    const id = await idOf(pid);
    if (id === undefined) throw new Error('not there');
    t.strictSame(await host.waitForEnd([id], 0), [false]);
    const waiting = host.waitForEnd([id], 5000);
    setTimeout(() => child.kill('SIGKILL'), 100);
    const began = performance.now();
    t.strictSame(await waiting, [true]);
    checkTime(t, performance.now() - began, 2000, 'the end is seen');
    t.equal(host.signal(id, 'term'), 'gone');

    const zombie = await start(t, 'sleep 0.05 & echo $!; exec sleep 60');
    await sleep(300);
    const columns = await host.read();
    const row = [...columns.parentPids].indexOf(zombie.pid);
    t.equal(String.fromCharCode(columns.states[row] ?? 0), 'Z');
    t.equal(host.signal(idAt(columns, row), 'kill'), 'gone');
    t.equal(await refusal('process.kill', { pid: columns.pids[row] ?? 0 }), 'NOT_FOUND');
  },
);

t.test('[7.kill-reuse] another process with the same number is never reached', async (t) => {
  const { child, pid } = await start(t, 'echo on; exec sleep 60');
  const id = await idOf(pid);
  if (id === undefined) throw new Error('not there');
  t.equal(host.signal({ ...id, startTicks: id.startTicks - 1 }, 'kill'), 'gone');
  t.strictSame(
    await host.waitForEnd([{ ...id, startTicks: 1 }], 1000),
    [true],
    'that one has ended long ago',
  );
  t.equal(await refusal('process.kill', { pid, started_at: 1_000_000 }), 'CONFLICT');
  await sleep(50);
  t.equal(child.exitCode ?? child.signalCode, null, 'it goes on');
});

t.test('[7.kill-tree] a tree of children, and nothing beside it', async (t) => {
  const name = unique('leaf');
  const leaf = path.join(folder, name);
  copyFileSync('/bin/sleep', leaf);
  const bystander = spawn(leaf, ['60'], { stdio: 'ignore' });
  t.teardown(() => bystander.kill('SIGKILL'));
  const script = `${leaf} 60 & sh -c '${leaf} 60 & sh -c "${leaf} 60 & echo on; wait" & wait' & wait`;
  for (const signal of ['term', 'kill']) {
    const { pid } = await start(t, script);
    // A child has the name of its shell until it is the program.
    await until(async () => (await running(name)).length >= 4);
    t.equal((await running(name)).length, 4, 'three and a bystander');
    t.match(await run('process.kill', { pid, tree: true, signal }), { success: true, count: 6 }, signal);
    t.strictSame(await running(name), [bystander.pid], 'only the bystander is left');
  }
  t.match(await run('process.kill', { name }), { count: 1, name }, 'by name');
  t.strictSame(await running(name), []);
});

t.test('[7.kill-tree] a process that keeps starting children is ended with all of them', async (t) => {
  const name = unique('spawn');
  const leaf = path.join(folder, name);
  copyFileSync('/bin/sleep', leaf);
  const { pid } = await start(
    t,
    `echo on; i=0; while [ $i -lt 2000 ]; do ${leaf} 20 & i=$((i+1)); sleep 0.005; done`,
  );
  await until(async () => (await running(name)).length > 5);
  t.ok((await running(name)).length > 5);
  t.match(await run('process.kill', { pid, tree: true, signal: 'kill' }), { success: true });
  t.strictSame(await running(name), []);
});

t.test('[7.launch] in a session of its own, with nothing open, reaped when it ends', async (t) => {
  const report = path.join(folder, 'report');
  const script = path.join(folder, 'app.sh');
  writeFileSync(
    script,
    `#!/bin/sh
{ echo "$@"; pwd; echo "$COLOUR $PATH"; ls -l /proc/$$/fd; grep -E '^Sig(Ign|Blk)' /proc/self/status
cut -d' ' -f6 /proc/$$/stat; echo $$; } > ${report}.new
mv ${report}.new ${report}
sleep 0.3
`,
  );
  chmodSync(script, 0o700);
  apps['app'] = {
    command: script,
    args: ['one', 'two words'],
    env: { COLOUR: 'blue' },
    cwd: '/',
    allow_args: true,
  };
  const answer = await run('process.launch', { app: 'app', args: ['$(three)'] });
  const pid = Number(answer['pid']);
  t.match(answer, { success: true, name: 'app' });
  for (let i = 0; i < 100 && !existsSync(report); i++) await sleep(20);
  const text = readFileSync(report, 'utf8');
  const [args, where, variables, ...rest] = text.trim().split('\n');
  t.equal(args, 'one two words $(three)', 'no shell has read them');
  t.equal(where, '/');
  t.equal(variables, `blue ${process.env['PATH']}`);
  const ignored = BigInt(`0x${rest.find((line) => line.startsWith('SigIgn'))?.split('\t')[1]}`);
  // Signals 32 and 33 are glibc's own: posix_spawn(3) leaves them ignored.
  t.equal(ignored & ~0x180000000n, 0n, 'nothing is ignored');
  t.match(
    rest.find((line) => line.startsWith('SigBlk')),
    /SigBlk:\t0000000000000000/,
    'nothing is blocked',
  );
  const open = rest.filter((line) => line.includes('->')).map((line) => line.split(' -> ')[1]);
  t.equal(
    open.filter((target) => target !== '/dev/null' && target !== script && !target?.startsWith(report))
      .length,
    0,
    open.join(' '),
  );
  t.equal(rest.at(-2), String(pid), 'it leads a session of its own');
  t.equal(rest.at(-1), String(pid));
  for (let i = 0; i < 100 && (await idOf(pid)) !== undefined; i++) await sleep(20);
  t.equal(await idOf(pid), undefined, 'no zombie is left');
});

t.test('[7.launch] a program that cannot be started, and one that exits immediately', async (t) => {
  const plain = (command: string): LaunchEntry => ({ command, args: [], env: {}, allow_args: false });
  apps['absent'] = plain(path.join(folder, 'absent'));
  apps['folder'] = plain(folder);
  apps['nowhere'] = { ...plain('/bin/true'), cwd: path.join(folder, 'absent') };
  for (const app of ['absent', 'folder', 'nowhere'])
    t.equal(await refusal('process.launch', { app }), 'INTERNAL', app);
  apps['quick'] = plain('/bin/true');
  const pids: number[] = [];
  for (let i = 0; i < 20; i++) pids.push(Number((await run('process.launch', { app: 'quick' }))['pid']));
  await sleep(300);
  const columns = await host.read();
  t.strictSame(
    pids.filter((pid) => rowOf(columns, pid) !== undefined),
    [],
    'no zombie is left',
  );
});

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

t.test('[7.launch] the limits are not those that Node has raised for itself', async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 4096; umask 027';
  const { report, problems } = await launchIn(t, { trouble: 'none', before });
  t.strictSame(problems, []);
  t.equal(report, '1024 4096 0027', 'soft, hard, umask');
  const low = await launchIn(t, { trouble: 'none', before: 'ulimit -Sn 300; ulimit -Hn 600' });
  t.match(low.report, /^600 600 /, 'a soft limit is never above the hard one');
});

t.test('[7.launch] without a free descriptor a program starts and is reaped', async (t) => {
  const before = 'ulimit -Sn 300; ulimit -Hn 300';
  const { report, problems } = await launchIn(t, { trouble: 'no-descriptors', before });
  t.strictSame(problems, []);
  t.match(report, /^300 300 /);
});
