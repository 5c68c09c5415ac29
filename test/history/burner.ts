/** Real processes that use the processor, under a name that nothing else has. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { PATIENCE_MS } from '../helpers/limits.ts';

export const BURNER = 'hw-burner';

interface Test {
  teardown(done: () => unknown): unknown;
}

/** Copies of a shell that count to no end; removed with the test. */
export function startBurners(t: Test, count: number): { readonly end: () => Promise<void> } {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-burner-'));
  const program = path.join(folder, BURNER);
  copyFileSync('/bin/sh', program);
  const burners: readonly ChildProcess[] = Array.from({ length: count }, () =>
    spawn(program, ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  const end = async () => {
    await Promise.all(
      burners.map(async (burner) => {
        if (burner.exitCode !== null || burner.signalCode !== null) return;
        const ended = once(burner, 'exit');
        burner.kill('SIGKILL');
        await ended;
      }),
    );
  };
  t.teardown(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  return { end };
}

interface Use {
  readonly name: string;
  readonly value: number;
}

interface Answer {
  readonly taken_at: number | null;
  readonly window_seconds: number | null;
  readonly cpu: readonly Use[] | null;
}

/** GET /api/history/processes at a moment, in Unix seconds. */
export async function ranAt(port: number, at: number): Promise<Answer> {
  const answer = await ask(port, `/api/history/processes?at=${at}`);
  // Compared with what is expected.
  return jsonOf(answer) as Answer;
}

export const isBurnerIn = ({ cpu }: Answer): boolean => cpu?.some(({ name }) => name === BURNER) ?? false;

/** Asks until `isDone`; fails after minutes. */
export async function askUntil<T>(
  what: string,
  question: () => Promise<T>,
  isDone: (answer: T) => boolean,
): Promise<T> {
  const limitMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await question();
    if (isDone(answer)) return answer;
    if (performance.now() > limitMs)
      throw new Error(`${what}: not after ${PATIENCE_MS} ms: ${JSON.stringify(answer)}`);
    await sleep(200);
  }
}
