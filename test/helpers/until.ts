import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './limits.ts';

/**
 * Resolves with the result of `find` once that is neither undefined nor false. Rejects when `limitMs` has passed, with
 * `what`, which may be told then, or else the text of `find`: a test that waits for nothing fails.
 */
export async function until<T>(
  find: () => T | Promise<T>,
  what?: string | (() => string),
  limitMs = PATIENCE_MS,
): Promise<Exclude<Awaited<T>, undefined | false>> {
  const deadline = performance.now() + limitMs;
  // Made now: its stack names the caller, which is gone after the first wait.
  const late = new Error(`not within ${limitMs} ms: ${String(what ?? find).slice(0, 100)}`);
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found as Exclude<Awaited<T>, undefined | false>;
    if (performance.now() > deadline)
      throw typeof what === 'function' ? new Error(what(), { cause: late }) : late;
    await sleep(5);
  }
}
