/** Signals that must not end the program, or open it to others, and one that must reach it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ask } from '../../helpers/clients/http.ts';
import { DEAD_BUSES } from '../../helpers/service/dead-buses.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { isServed } from '../../helpers/service/served.ts';
import { serveProgram, startService } from '../../helpers/service/service.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const ENV = { ...process.env, ...DEAD_BUSES, HOSTWIRE_CONFIG: '' };

t.test('SIGUSR1 opens no inspector, SIGTTOU stops nothing, and SIGPIPE ends nothing', async (t) => {
  const service = await serveProgram(t);
  process.kill(service.pid, 'SIGUSR1');
  process.kill(service.pid, 'SIGTTOU');
  process.kill(service.pid, 'SIGPIPE');
  await sleep(500);
  t.equal((await ask(service.port, '/api/status')).status, 200);
  t.notMatch(service.stderr(), /[Dd]ebugger/);
  const listening = readFileSync('/proc/net/tcp', 'latin1');
  const ports = new Set(
    [...listening.matchAll(/: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A /g)].map(([, port]) =>
      Number.parseInt(`${port}`, 16),
    ),
  );
  t.ok(ports.has(service.port));
  const isOpen = await new Promise<boolean>((resolve) => {
    const socket = net.connect(9229, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
  t.notOk(isOpen && !service.stderr().includes('in use'), 'nothing answers on its port');
});

t.test('SIGHUP before it listens', async (t) => {
  let wasHandled: boolean | undefined;
  const service = await startService({
    start: (command, args, how) => {
      const child = spawn(command, args, how);
      // With the first line of its log it has only begun to start.
      child.stderr?.once('data', () => {
        wasHandled = hasHandler(child.pid ?? 0, 1);
        child.kill('SIGHUP');
      });
      return child;
    },
  });
  t.equal(wasHandled, true, 'a hang-up of its terminal would not have ended it');
  t.equal((await ask(service.port, '/api/status')).status, 200);
  t.match(await service.stop(), { code: 0 });
});

/** Whether the process catches signal `number` (SigCgt of proc_pid_status(5)). */
function hasHandler(pid: number, number: number): boolean {
  try {
    const caught = /^SigCgt:\s*([0-9a-f]+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return ((BigInt(`0x${caught}`) >> BigInt(number - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

t.test('SIGTERM to "npm start" ends the service too', async (t) => {
  const port = await findFreePort();
  const config = path.join(t.testdir({ 'config.json': '{"power": {"backend": "record"}}' }), 'config.json');
  const npm = spawn(
    'npm',
    ['start', '--', '--config', config, '--host', '127.0.0.1', '--port', String(port)],
    { cwd: ROOT, stdio: 'ignore', env: ENV },
  );
  t.teardown(() => npm.kill('SIGKILL'));
  const ended = once(npm, 'exit');
  t.ok(await isServed(port));
  npm.kill('SIGTERM');
  await ended;
  t.ok(await isServed(port, false), 'nothing stays behind');
});
