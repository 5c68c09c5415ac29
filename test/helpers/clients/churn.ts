/** Clients that connect and leave immediately: bench/native/churn.c. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { compile } from '../../../bench/fanout-subjects.ts';

/**
 * Connects and leaves `count` times, in six ways by turns, half of them with a reset; `parallel` of them are open at a
 * time. Throws when a connect fails. `perSecond` 0: as fast as it goes.
 */
export async function churn(port: number, count: number, parallel: number, perSecond = 0): Promise<void> {
  const child = spawn(compile('churn'), [port, count, parallel, perSecond].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0 || printed.trim() !== '0') throw new Error(`churn ended with ${code}: ${printed}`);
}
