/** Time limits in tests, which run on unknown machines under unknown load. */
import process from 'node:process';

/** Only guards against a test that hangs. */
export const PATIENCE_MS = 120_000;

/** `npm run prove` also judges upper bounds in milliseconds, alone on its machine; elsewhere they are comments. */
const isProof = process.env['HOSTWIRE_FULL'] === '1';

interface Test {
  ok(value: unknown, name: string): unknown;
  comment(text: string): unknown;
}

/** Judges a promise of the service that something takes less than `limitMs`. */
export function checkTime(t: Test, tookMs: number, limitMs: number, what: string): void {
  const text = `${what}: ${tookMs.toFixed(1)} ms of at most ${limitMs}`;
  if (isProof) t.ok(tookMs < limitMs, text);
  else t.comment(text);
}
