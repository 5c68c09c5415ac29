/** Real processes ended over /api/ws: one that obeys, one that ignores it, one already gone, a tree; and details. */
import '../helpers/service/dead-buses.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { SocketClient } from '../helpers/clients/socket.ts';
import { serveProgram } from '../helpers/service/service.ts';

t.setTimeout(280_000);

const service = await serveProgram(t, {
  config: {
    features: { enable_process_control: true },
    processes: {
      launch: { sleeper: { command: '/bin/sleep', args: ['60'], env: {}, allow_args: false } },
    },
  },
});

async function connect(t: Test): Promise<SocketClient> {
  const client = await SocketClient.openIn(t, service.port);
  return client;
}

/** A shell, and the text it prints when it is ready. */
async function startShell(
  t: Test,
  script: string,
): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

/** True while it runs: a zombie, which stays in a container without an init, has exited. */
const isAlive = (pid: number) => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

t.test('[7.kill-socket] a process that obeys has ended when the answer says so', async (t) => {
  const client = await connect(t);
  const { child } = await startShell(t, 'echo ready; exec sleep 60');
  const ended = once(child, 'exit');
  const answers = await client.askToEnd('process_kill', { pid: child.pid }, 1);
  t.match(answers.at(-1)?.data, { success: true, stage: 'done', final: true, pid: child.pid, count: 1 });
  await ended;
  t.equal(child.signalCode, 'SIGTERM');
});

t.test('[7.kill-socket] a process that ignores it: TIMEOUT, and kill forces it', async (t) => {
  const client = await connect(t);
  const { child } = await startShell(t, "trap '' TERM; echo ready; while :; do sleep 0.2; done");
  const refused = await client.askToEnd('process_kill', { pid: child.pid, timeout_ms: 300 }, 1);
  t.match(refused.at(-1)?.data, {
    success: false,
    stage: 'failed',
    code: 'TIMEOUT',
    pid: child.pid,
    count: 0,
  });
  t.equal(child.exitCode, null, 'it still runs');
  const ended = once(child, 'exit');
  const answers = await client.askToEnd('process_kill', { pid: child.pid, signal: 'kill' }, 2);
  t.match(answers.at(-1)?.data, { success: true, stage: 'done' });
  await ended;
  t.equal(child.signalCode, 'SIGKILL');
});

t.test('[7.kill-socket] a process that has exited since: NOT_FOUND', async (t) => {
  const client = await connect(t);
  const { child } = await startShell(t, 'echo ready');
  if (child.exitCode === null) await once(child, 'exit');
  client.say('process_kill', { pid: child.pid });
  t.match((await client.take('process_feedback')).data, { success: false, code: 'NOT_FOUND', final: true });
});

t.test('[7.kill-socket] a tree, with its children', async (t) => {
  const client = await connect(t);
  const { child, said } = await startShell(t, 'sleep 61 & sleep 62 & echo $!; wait');
  const grandchild = Number(said);
  t.ok(isAlive(grandchild));
  const ended = once(child, 'exit');
  const answers = await client.askToEnd('process_kill', { pid: child.pid, tree: true }, 'tree');
  t.match(answers.at(-1)?.data, { success: true, stage: 'done', count: 3 });
  await ended;
  for (let i = 0; i < 100 && isAlive(grandchild); i++) await sleep(20);
  t.notOk(isAlive(grandchild));
});

t.test('[7.kill-socket] this service and its parents are protected', async (t) => {
  const client = await connect(t);
  for (const pid of [service.pid, process.pid, 1]) {
    client.say('process_kill', { pid });
    t.match((await client.take('process_feedback')).data, { success: false, code: 'PROTECTED' }, `${pid}`);
  }
});

t.test('[7.process-ops] details of a process, and one that was launched', async (t) => {
  const client = await connect(t);
  const launched = await client.askToEnd('process_launch', { app: 'sleeper' }, 'l');
  t.match(launched.at(-1)?.data, {
    success: true,
    stage: 'done',
    action: 'launch',
    name: 'sleeper',
    pid: Number,
  });
  const pid = Number(launched.at(-1)?.data['pid']);
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, as the test expects. A check beforehand would race with the service, which reaps it.
    }
  });
  await sleep(1100);
  const details = await client.ask('process_details', { pid }, 'd');
  t.match(details, {
    type: 'process_details',
    data: { name: 'sleep', count: 1, processes: [{ pid, state: 'sleeping', command: ['/bin/sleep', '60'] }] },
  });
  t.match((await client.askToEnd('process_kill', { pid }, 'k')).at(-1)?.data, { success: true });
});
