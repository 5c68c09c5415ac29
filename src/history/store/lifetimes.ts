/**
 * Why the service was away, from what it wrote last and the machine's time now. Pure. Whether the machine was restarted
 * in that time follows from the time since boot, which every platform has: a boot after the last heartbeat happened
 * after it. That needs no boot id of the kernel, and is wrong only if the clock was set forward, while the service was
 * away, by more than the machine had been up.
 */
import type { HistoryMark } from '../../wire/history.ts';
import type { Moment } from './messages.ts';

/** State that the last service wrote with its last transaction. */
export interface LastWrite extends Moment {
  readonly isStopped: boolean;
}

/** Tolerance: clocks drift, and a heartbeat is rounded. */
const TOLERANCE_SECONDS = 2;

export interface Lifetime {
  readonly marks: readonly HistoryMark[];
  /** The clock is now behind the recorded time. */
  readonly isClockBehind: boolean;
}

/** `last` undefined: the file is new. `startedAt`: of the service, in Unix seconds. */
export function explainAbsence(last: LastWrite | undefined, startedAt: number, moment: Moment): Lifetime {
  const start: HistoryMark = { at: startedAt, kind: 'start', seconds: null, text: 'The service started.' };
  if (last === undefined) return { marks: [start], isClockBehind: false };
  const bootedAt = moment.now - moment.sinceBoot;
  const shift = bootedAt - (last.now - last.sinceBoot);
  const isBooted =
    moment.sinceBoot < last.sinceBoot - TOLERANCE_SECONDS ||
    (bootedAt > last.now - TOLERANCE_SECONDS && shift > TOLERANCE_SECONDS);
  const isClockBehind = startedAt < last.now - TOLERANCE_SECONDS;
  const away = awaySeconds(last, startedAt, moment, isBooted);
  const marks: HistoryMark[] = [];
  if (!last.isStopped)
    marks.push({ at: last.now, kind: 'crash', seconds: away, text: describeCrash(isBooted, away) });
  if (isClockBehind || (!isBooted && Math.abs(shift) > TOLERANCE_SECONDS))
    marks.push({
      at: startedAt,
      kind: 'clock',
      seconds: isBooted ? null : Math.round(shift),
      text: CLOCK_TEXT,
    });
  if (isBooted)
    marks.push({ at: Math.round(bootedAt), kind: 'boot', seconds: null, text: 'The machine started.' });
  marks.push({ ...start, seconds: away, text: describeStart(last.isStopped, isBooted, away) });
  return { marks, isClockBehind };
}

/**
 * Returns how long the service was away; while the machine stayed up, by the time since boot, which no change of the
 * clock affects. Null: unknown.
 */
function awaySeconds(last: LastWrite, startedAt: number, { now, sinceBoot }: Moment, isBooted: boolean) {
  const away = isBooted ? startedAt - last.now : sinceBoot - (now - startedAt) - last.sinceBoot;
  return away < -TOLERANCE_SECONDS ? null : Math.max(0, Math.round(away));
}

const CLOCK_TEXT = "The machine's clock was set while the service was away.";

function describeCrash(isBooted: boolean, away: number | null): string {
  const time = away === null ? '' : ` It was away for ${duration(away)}.`;
  return isBooted
    ? `The machine restarted while the service was running: it lost power, was reset, or hung.${time}`
    : `The service ended unexpectedly while the machine stayed up: it was killed or crashed.${time}`;
}

function describeStart(isStopped: boolean, isBooted: boolean, away: number | null): string {
  const time = away === null ? '' : `, ${duration(away)} after it was ${isStopped ? 'stopped' : 'last seen'}`;
  return `The service started${time}${isBooted ? '; the machine was restarted in between' : ''}.`;
}

/** Writes the largest unit of which there are at least two. */
function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export const stopMark = (at: number): HistoryMark => ({
  at,
  kind: 'stop',
  seconds: null,
  text: 'The service stopped.',
});
