/** The labels of a time axis. Pure. */

const DAY = 86_400;
/** Seconds between two labels: whole parts of the next longer unit. */
const TICKS = [
  10,
  30,
  60,
  120,
  300,
  600,
  1800,
  3600,
  7200,
  10_800,
  21_600,
  43_200,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
];
const MAX_TICK = 91 * DAY;

/** Returns the seconds between two labels on a time axis of `plotPx`. */
export const tickStep = (seconds: number, plotPx: number, labelPx: number): number =>
  TICKS.find((tick) => (tick / seconds) * plotPx >= labelPx) ?? MAX_TICK;

/** Returns multiples of `step` by the clock of this device. */
export function ticksIn(from: number, until: number, step: number): readonly number[] {
  const offset = (at: number) => -60 * new Date(1000 * at).getTimezoneOffset();
  const ticks: number[] = [];
  for (let local = Math.ceil((from + offset(from)) / step) * step; ; local += step) {
    // Summer time may begin in between.
    const at = local - offset(local - offset(from));
    if (at > until) return ticks;
    ticks.push(at);
  }
}
