/** Waiting for what a virtual machine does in its own time. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Asks every 200 ms until there is an answer; rejects after `limitMs`. A question that fails is asked again. */
export async function until<T>(
  what: string,
  limitMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + limitMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await ask();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await sleep(200);
  }
  throw new Error(`${what}: not within ${limitMs} ms${last === undefined ? '' : ` (${String(last)})`}`);
}
