/** Whether a service answers, for tests that start the program by themselves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../clients/http.ts';

/** Waits 5 s for it; `isWanted` false: until nothing answers any more. */
export async function isServed(port: number, isWanted = true): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    const isThere = await ask(port, '/api/status').then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isThere === isWanted) return true;
    await sleep(50);
  }
  return false;
}
