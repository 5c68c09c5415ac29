/**
 * Shows the track that each machine in view plays, and pauses it. The stream of all machines has no media, so each machine in view is
 * asked, one at a time: the page makes at most five requests per second, however many machines there are.
 */
import { useEffect } from 'preact/hooks';
import { allows, type ClientAccess, may } from '../access.ts';
import { getJson, post } from '../requests.ts';
import { connection } from '../visit.ts';
import { show } from './live.ts';
import type { Machine } from './machines.ts';
import { type Played, playedOf } from './read.ts';

const TURN_MS = 200;
const EVERY_MS = 5000;
/** Delay after a refusal: its media are off, or it has no players, which changes rarely. */
const REFUSED_MS = 60_000;
/** Players report the effect of a command a moment later. */
const CHANGE_MS = 300;

interface Shown {
  readonly machine: Machine;
  /** Time from which it may be asked again. */
  dueMs: number;
}

/** Machines in view; a machine that another view shows next is here twice for a moment. */
const inView = new Set<Shown>();
let timer: ReturnType<typeof setInterval> | undefined;
let isAsking = false;

const pathOf = ({ id }: Machine, path: string) => `/api/hosts/${id}/${path}`;

const mayControl = async (machine: Machine): Promise<boolean> =>
  allows((await getJson<ClientAccess>(pathOf(machine, 'access'))).scopes, 'media');

async function ask(shown: Shown): Promise<void> {
  const { machine } = shown;
  isAsking = true;
  let played: Played | undefined;
  let waitMs = EVERY_MS;
  try {
    played = playedOf(await getJson<unknown>(pathOf(machine, 'media/status?detail=1')));
    // Once: a refusal of a command is shown.
    if (played !== undefined && may('media')) machine.mayPlay ??= await mayControl(machine);
  } catch {
    waitMs = REFUSED_MS;
  }
  isAsking = false;
  shown.dueMs = performance.now() + waitMs;
  if (machine.played?.text === played?.text && machine.played?.isPlaying === played?.isPlaying) return;
  machine.played = played;
  show();
}

/** Plays or pauses. Rejects as `post`. */
export async function toggle(machine: Machine): Promise<void> {
  await post(pathOf(machine, 'media/control'), { action: machine.played?.isPlaying ? 'pause' : 'play' });
  for (const shown of inView) if (shown.machine === machine) shown.dueMs = performance.now() + CHANGE_MS;
}

/** Asks the machine that has waited longest. */
function turn(): void {
  if (isAsking || connection.current !== 'live') return;
  const now = performance.now();
  const due = [...inView].filter(({ machine, dueMs }) => machine.condition.state === 'up' && dueMs <= now);
  const [next] = due.sort((a, b) => a.dueMs - b.dueMs);
  if (next !== undefined) void ask(next);
}

/** Keeps `machine.played` up to date while the component is shown. */
export function usePlaying(machine: Machine): void {
  useEffect(() => {
    const shown = { machine, dueMs: 0 };
    inView.add(shown);
    timer ??= setInterval(turn, TURN_MS);
    return () => {
      inView.delete(shown);
      if (inView.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, [machine]);
}
