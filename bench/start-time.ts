/** Measures a start: from `node ARGS` to the first answer of GET /api/status. */
import { spawn } from 'node:child_process';
import net from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuNsOf } from './cpu.ts';
import { stopChild } from './service-subject.ts';

/** Returns whether `port` answers /api/status with 200; false while nothing listens. */
function answersStatus(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write('GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString('latin1').startsWith('HTTP/1.1 200'));
    });
    socket.once('error', () => resolve(false));
  });
}

export interface Start {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Times `node ARGS` from its start to its first answer; other programs on the machine change the CPU time little. */
export async function timeStart(args: readonly string[], port: number): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  try {
    while (!(await answersStatus(port))) {
      if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`);
      if (performance.now() - began > 20_000) throw new Error(`${args.join(' ')} never answered`);
      await sleep(1);
    }
    return { wallMs: performance.now() - began, cpuMs: cpuNsOf(child.pid ?? 0) / 1e6 };
  } finally {
    await stopChild(child, 'SIGTERM');
  }
}
