/** The whole service as a process under test: started from its main file, watched from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import type { EngineName } from '#src/engines.js';
import { cpuNsOf } from './cpu.ts';
import { ROOT } from './report.ts';

/** Returns a port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly port: number;
  stop(): Promise<void>;
}

export async function stopChild(
  child: ChildProcess,
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}

export interface ServiceOptions {
  /** Default: what `auto` comes to. */
  readonly engine?: EngineName;
  /** Default: the built program of this checkout. */
  readonly main?: string;
  /** Runs Node: the program and its arguments. Default: Node itself. */
  readonly command?: readonly [program: string, ...args: string[]];
  /** Further sections of its configuration. */
  readonly more?: Readonly<Record<string, object>>;
}

/** Writes a separate configuration, so that this machine's own has no effect. */
export function writeConfig(
  port: number,
  intervalSeconds: number,
  engine?: EngineName,
  more: ServiceOptions['more'] = {},
) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hostwire-bench-'));
  const file = path.join(folder, 'config.json');
  const content = {
    stats: { stream_interval_seconds: intervalSeconds },
    // All subscribers come from one address.
    server: {
      host: '127.0.0.1',
      port,
      max_connections_per_address: 0,
      max_streams_per_address: 0,
      ...(engine === undefined ? {} : { engine }),
    },
    power: { backend: 'record' },
    ...more,
  };
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  return { path: file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts the service on loopback and waits until it listens. */
export async function startService(
  intervalSeconds: number,
  options: ServiceOptions = {},
): Promise<ServiceProcess> {
  const { engine, main = path.join(ROOT, 'dist/main.js'), command = [process.execPath], more } = options;
  const [program, ...args] = command;
  const port = await findFreePort();
  const config = writeConfig(port, intervalSeconds, engine, more);
  const child = spawn(program, [...args, main, '--config', config.path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    config.remove();
  };
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('listening on')) resolve();
    });
    child.once('exit', () => reject(new Error(`the service ended: ${said}`)));
  });
  return { child, port, stop };
}

/** Starts the service with one subscriber of the default stream; a round is one event. */
export async function openService(intervalSeconds: number) {
  const service = await startService(intervalSeconds);
  let onEvent: () => void = () => undefined;
  const request = http.get({ port: service.port, host: '127.0.0.1', path: '/api/stream' }, (response) => {
    response.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('data:')) onEvent();
    });
    response.on('error', () => undefined);
  });
  request.on('error', () => undefined);
  const pid = service.child.pid ?? 0;
  const waitFor = (events: number) =>
    new Promise<void>((resolve) => {
      let left = events;
      onEvent = () => {
        left--;
        if (left === 0) resolve();
      };
    });
  await waitFor(2);
  return {
    run: async (count: number, intervalMs: number) => {
      if (intervalMs !== intervalSeconds * 1000) throw new Error('the service keeps its own interval');
      // Measures from just after one event to just after another.
      await waitFor(1);
      const before = cpuNsOf(pid);
      await waitFor(count);
      return cpuNsOf(pid) - before;
    },
    stop: async () => {
      request.destroy();
      await service.stop();
    },
  };
}
