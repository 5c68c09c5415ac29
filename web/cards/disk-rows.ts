/** Orders filesystems, and reads when they will be full. Pure. */
import type { HistoryPayload } from '../../src/wire/history.ts';
import type { DiskDetail } from '../../src/wire/sample.ts';
import { levelOf } from '../parts/level.ts';
import { Value } from '../value.ts';

const MAX_SHOWN = 6;

/** The service's trend of the last week, of filesystems that will be full within a year. */
export const TREND_PATH = '/api/history?series=disk.days_left/*&since=-7200&step=3600';
const TREND = 'disk.days_left/';

/** The fullest first; one that does not answer, and one that is nearly full, is never folded. */
export function fullestFirst(
  disks: readonly DiskDetail[],
): readonly [shown: readonly DiskDetail[], folded: readonly DiskDetail[]] {
  // Whole percentages, so that two filesystems do not swap places all the time.
  const rank = ({ stale, used_percent }: DiskDetail) => (stale ? 101 : Math.round(used_percent ?? -1));
  const ordered = disks.toSorted((a, b) => rank(b) - rank(a));
  const urgent = ordered.filter(({ stale, used_percent }) => stale || levelOf(used_percent) !== undefined);
  const shown = Math.max(MAX_SHOWN, urgent.length);
  return [ordered.slice(0, shown), ordered.slice(shown)];
}

/** The days until each filesystem is full, by mount point. */
export const daysLeft = new Value<ReadonlyMap<string, number>>(new Map());

/** Returns the newest known number of days until each filesystem is full, whole and at least one, by mount point. */
export function daysLeftIn({ series }: Pick<HistoryPayload, 'series'>): ReadonlyMap<string, number> {
  return new Map(
    Object.entries(series).flatMap(([name, { mean }]) => {
      const days = mean.findLast((value) => value !== null);
      return days == null ? [] : [[name.slice(TREND.length), Math.max(1, Math.round(days))] as const];
    }),
  );
}
