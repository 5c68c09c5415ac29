/** Attackers in Python: for calls of the system that Node does not have. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Target } from './target.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../../test/siege');

/** Starts a script and waits for its first line; it ends when its input closes, with the attack or with this process. */
export async function startScript(target: Target, name: string, args: readonly string[]): Promise<void> {
  const child = spawn('python3', [path.join(FOLDER, name), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  target.keep(async () => {
    child.stdin.end();
    await ended;
  });
  await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
}
