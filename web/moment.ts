/** The moment at the pointer, or a pinned one, the same in all charts, and the programs that ran then. */
import { ClientError } from '../src/client/client.ts';
import type { ProcessHistoryPayload } from '../src/wire/history.ts';
import { may } from './access.ts';
import { timeInAddress, writeAddress } from './address.ts';
import { isThen, type Moment, moment, pinned } from './chosen.ts';
import { serviceNow } from './live.ts';
import { drawn, range, shown } from './past.ts';
import { getJson } from './requests.ts';
import { Value } from './value.ts';
import { connection } from './visit.ts';

/** The last answer, which may be of the previous moment. */
export const ran = new Value<ProcessHistoryPayload | undefined>(undefined);

/** Minimum time between two readings of processes by the service. */
const SLOT_SECONDS = 10;
/** Time after which no further reading changes the answer. */
const SETTLED_SECONDS = 90;
/** Delay, so that a pointer on its way to another moment requests nothing. */
const REST_MS = 150;
const RETRY_MS = 5000;
const MAX_KEPT = 100;

export const slotOf = (at: number): number => Math.floor(at / SLOT_SECONDS) * SLOT_SECONDS;

const kept = new Map<number, ProcessHistoryPayload>();
/** The slot that is shown or was requested. */
let wanted: number | undefined;
let isOff = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let asking = new AbortController();

export function point(at: number, chart: string): void {
  if (at !== moment.current?.at || chart !== moment.current.chart) moment.set({ at, chart });
}

/** The pointer or the focus has left the chart. */
export const leave = (): void => moment.set(pinned.current);

export function pin(next: Moment | undefined): void {
  pinned.set(next);
  writeAddress({ at: next?.at });
  moment.set(next);
}

async function ask(slot: number): Promise<void> {
  asking = new AbortController();
  const { signal } = asking;
  const answer = await getJson<ProcessHistoryPayload>(`/api/history/processes?at=${slot}`, signal).catch(
    (error: unknown) => {
      if (error instanceof ClientError && error.status === 403) isOff = true;
    },
  );
  if (signal.aborted || isOff) return;
  if (answer) ran.set(answer);
  // An answer without processes, or one older than the slot, may change soon.
  if (answer?.taken_at != null && (answer.taken_at >= slot || serviceNow() - slot > SETTLED_SECONDS))
    keep(slot, answer);
  else timer = setTimeout(ask, RETRY_MS, slot);
}

function keep(slot: number, answer: ProcessHistoryPayload): void {
  kept.set(slot, answer);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
}

moment.watch((next) => {
  const slot = next && slotOf(next.at);
  if (slot === wanted) return;
  wanted = slot;
  clearTimeout(timer);
  asking.abort();
  const known = slot === undefined ? undefined : kept.get(slot);
  if (slot === undefined || known !== undefined) ran.set(known);
  else if (!isOff && may('processes')) timer = setTimeout(ask, REST_MS, slot);
});

// Another service may answer from then on, or the same one with another configuration.
connection.watch((state) => {
  kept.clear();
  isOff = false;
  if (state === 'resting') pin(undefined);
});

// A moment that is not shown any more becomes the oldest one; a pinned one ends.
drawn.watch(() => {
  const { current } = moment;
  const { times, range } = shown();
  const [oldest] = times;
  if (current === undefined || oldest === undefined) return;
  const isGone = current.at < oldest || current.at >= (times.at(-1) ?? 0) + range.step;
  if (isGone && current === pinned.current) pin(undefined);
  else if (current.at < oldest) point(oldest, current.chart);
  else if (isGone) leave();
});

const judge = () => isThen.set(moment.current !== undefined || range.current.from !== undefined);
moment.watch(judge);
range.watch(judge);
judge();

const atInAddress = timeInAddress('at');
if (atInAddress !== undefined) pin({ at: atInAddress, chart: '' });

document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') pin(undefined);
});

/** Elements on which a press keeps the chosen moment: those that show it or choose it, and controls. */
const KEEPS = '.plot, .moment, .times, a, button, input, label, summary';
// A finger does not leave the chart as a pointer does.
document.addEventListener('pointerdown', ({ target }) => {
  if (!(target instanceof Element && target.closest(KEEPS))) pin(undefined);
});
