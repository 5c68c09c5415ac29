/** Buses and programs on them, none of which outlives this process. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import process from 'node:process';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
// So that a test that is ended by its time limit leaves nothing behind either.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

export function keep(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

export async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

/** Starts a bus with this configuration file; resolves when it listens. */
export async function startDaemon(config: string, how: SpawnOptions = {}): Promise<ChildProcess> {
  const args = [`--config-file=${config}`, '--nofork', '--print-address'];
  const daemon = keep(spawn('/usr/bin/dbus-daemon', args, { ...how, stdio: ['ignore', 'pipe', 'ignore'] }));
  await new Promise<void>((resolve, reject) => {
    daemon.stdout?.once('data', () => resolve());
    daemon.once('error', reject);
    daemon.once('exit', (code) => reject(new Error(`dbus-daemon ended with ${code}`)));
  });
  return daemon;
}
