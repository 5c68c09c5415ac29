/**
 * Shows the track that each machine in view plays. The stream of all machines has no media, so each machine in view is
 * asked, one at a time: the page makes at most five requests per second, however many machines there are.
 */
import { useEffect } from 'preact/hooks';
import { getJson } from '../requests.ts';
import { connection } from '../visit.ts';
import { show } from './live.ts';
import type { Machine } from './machines.ts';
import { playedOf } from './read.ts';

const TURN_MS = 200;
const EVERY_MS = 5000;
/** Delay after a refusal: its media are off, or it has no players, which changes rarely. */
const REFUSED_MS = 60_000;

/** Machines in view, with the times from which they may be asked again. */
const inView = new Map<Machine, number>();
let timer: ReturnType<typeof setInterval> | undefined;
let isAsking = false;

async function ask(machine: Machine): Promise<void> {
  isAsking = true;
  const text = await getJson<unknown>(`/api/hosts/${machine.id}/media/status?detail=1`).then(
    playedOf,
    () => undefined,
  );
  isAsking = false;
  const waitMs = text === undefined ? REFUSED_MS : EVERY_MS;
  if (inView.has(machine)) inView.set(machine, performance.now() + waitMs);
  if (machine.playing === (text ?? '')) return;
  machine.playing = text ?? '';
  show();
}

/** Asks the machine that has waited longest. */
function turn(): void {
  if (isAsking || connection.current !== 'live') return;
  const now = performance.now();
  let next: Machine | undefined;
  let nextMs = now;
  for (const [machine, dueMs] of inView)
    if (machine.condition.state === 'up' && dueMs <= nextMs) [next, nextMs] = [machine, dueMs];
  if (next !== undefined) void ask(next);
}

/** Keeps `machine.playing` up to date while the component is shown. */
export function usePlaying(machine: Machine): void {
  useEffect(() => {
    inView.set(machine, 0);
    timer ??= setInterval(turn, TURN_MS);
    return () => {
      inView.delete(machine);
      if (inView.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, [machine]);
}
