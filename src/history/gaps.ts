/** Marks for events between two readings: the machine slept, or its clock was set. Pure. */
import type { Counters } from '../host/host.ts';
import { oneDecimal } from '../stats/round.ts';
import type { HistoryMark } from '../wire/history.ts';

export type Clocks = Pick<Counters, 'takenAtNs' | 'sinceBootNs' | 'unixMs'>;

/** Minimum duration: a shorter sleep is a rounding of the clocks. */
const MIN_SLEEP_SECONDS = 2;
/** Minimum jump: a clock that is corrected slowly moves less than this between two readings. */
const MIN_JUMP_SECONDS = 1;

/** Writes "3 h 20 min", "45 s". */
export function inWords(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return `${oneDecimal(Math.abs(seconds))} s`;
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** Returns by how many seconds the clock was set between two readings; negative: back. */
function jumpBetween(before: Clocks, after: Clocks): number {
  return (after.unixMs - before.unixMs) / 1000 - (after.sinceBootNs - before.sinceBootNs) / 1e9;
}

function sleepBetween(before: Clocks, after: Clocks): number {
  return (after.sinceBootNs - before.sinceBootNs - (after.takenAtNs - before.takenAtNs)) / 1e9;
}

export function marksBetween(before: Clocks, after: Clocks): readonly HistoryMark[] {
  const at = after.unixMs / 1000;
  const marks: HistoryMark[] = [];
  const slept = sleepBetween(before, after);
  if (slept > MIN_SLEEP_SECONDS)
    marks.push({
      at,
      kind: 'suspend',
      seconds: oneDecimal(slept),
      text: `The machine slept for ${inWords(slept)}.`,
    });
  const jump = jumpBetween(before, after);
  if (Math.abs(jump) > MIN_JUMP_SECONDS)
    marks.push({
      at,
      kind: 'clock',
      seconds: oneDecimal(jump),
      text: `The clock was set ${jump < 0 ? 'back' : 'forward'} by ${inWords(jump)}.`,
    });
  return marks;
}
