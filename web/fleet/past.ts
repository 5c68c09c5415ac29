/** Fills the line of the last minute of each machine in view from the history of the machine, a few machines at a time. */
import { useEffect } from 'preact/hooks';
import type { HistoryPayload } from '../../src/wire/history.ts';
import { getJson } from '../requests.ts';
import { show, visits } from './live.ts';
import type { Machine } from './machines.ts';
import { TRAIL_LENGTH } from './trail.ts';

/** Fewer than the connections that browsers open to one server, of which the stream has one. */
const MAX_ASKED = 4;
/** Machines that are scrolled past are not asked. */
const REST_MS = 200;
const SERIES = 'cpu.load';

/** The visits in which machines were asked. */
const filled = new WeakMap<Machine, number>();
const waiting = new Set<Machine>();
let asked = 0;

async function fill(machine: Machine): Promise<void> {
  filled.set(machine, visits);
  const path = `/api/hosts/${machine.id}/history?series=${SERIES}&since=-${TRAIL_LENGTH}&step=1`;
  // Where nothing is recorded the line begins with the page.
  const answer = await getJson<Partial<HistoryPayload>>(path).catch(() => undefined);
  const values = answer?.series?.[SERIES]?.mean;
  if (!Array.isArray(values)) return;
  const known = values.map((value) => (Number.isFinite(value) ? value : null));
  // The newest seconds may not be recorded yet.
  machine.trail.fillBefore(known.slice(0, known.findLastIndex((value) => value !== null) + 1));
  show();
}

function next(): void {
  for (const machine of waiting) {
    if (asked >= MAX_ASKED) return;
    waiting.delete(machine);
    asked++;
    void fill(machine).finally(() => {
      asked--;
      next();
    });
  }
}

/** Fills the line of a machine that is shown, once per visit of the page. */
export function usePast(machine: Machine): void {
  const isUp = machine.condition.state === 'up';
  useEffect(() => {
    if (!isUp || filled.get(machine) === visits) return undefined;
    const timer = setTimeout(() => {
      waiting.add(machine);
      next();
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      waiting.delete(machine);
    };
  }, [machine, isUp, visits]);
}
