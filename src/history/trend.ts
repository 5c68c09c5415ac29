/** Finds filesystems that fill up: a straight line through their past, by least squares. Pure. */
import type { HistoryPayload } from '../wire/history.ts';
import type { SeriesPoint } from './history.ts';
import { nameOf } from './names.ts';

/** The part of the history that a trend is made of. */
export const TREND_REQUEST = {
  series: ['disk.used_percent/*'],
  since: -7 * 86_400,
  until: undefined,
  step: 3600,
};
/** Shorter: a download, or a night without any. */
const MIN_DAYS = 1;
/** Least part of the variance that the line explains. One jump is 0.75, a log that is rotated less. */
const MIN_FIT = 0.9;
const MAX_DAYS = 365;
const DAY_SECONDS = 86_400;

/** Returns the days until `values`, in percent, reach 100; null: they do not grow, or not steadily. */
export function daysLeft(values: readonly (number | null)[], stepDays: number): number | null {
  const known = values.flatMap((y, at) => (y === null ? [] : [{ x: at * stepDays, y }]));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || last.x - first.x < MIN_DAYS) return null;
  const meanOf = (read: (point: { readonly x: number; readonly y: number }) => number) =>
    known.reduce((sum, point) => sum + read(point), 0) / known.length;
  const [meanX, meanY] = [meanOf(({ x }) => x), meanOf(({ y }) => y)];
  const xx = meanOf(({ x }) => (x - meanX) ** 2);
  const yy = meanOf(({ y }) => (y - meanY) ** 2);
  const xy = meanOf(({ x, y }) => (x - meanX) * (y - meanY));
  return xy > 0 && xy ** 2 >= MIN_FIT * xx * yy ? ((100 - last.y) * xx) / xy : null;
}

/** Returns a point for each filesystem that will be full within a year, from the answer to TREND_REQUEST. */
export function trendPoints({
  step,
  series,
}: Pick<HistoryPayload, 'step' | 'series'>): readonly SeriesPoint[] {
  return Object.entries(series).flatMap(([name, { mean }]) => {
    const value = daysLeft(mean, step / DAY_SECONDS);
    const mount = name.slice(name.indexOf('/') + 1);
    return value === null || value > MAX_DAYS
      ? []
      : [{ name: nameOf('disk.days_left', mount), unit: 'days', value }];
  });
}
