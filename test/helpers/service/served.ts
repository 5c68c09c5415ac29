/** Whether a service answers, for tests that start the program themselves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../clients/http.ts';
import { PATIENCE_MS } from '../limits.ts';

/** Waits for it; `isWanted` false: until nothing answers any more. */
export async function isServed(port: number, isWanted = true): Promise<boolean> {
  for (const begun = performance.now(); performance.now() - begun < PATIENCE_MS; ) {
    const isThere = await ask(port, '/api/status').then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isThere === isWanted) return true;
    await sleep(50);
  }
  return false;
}
