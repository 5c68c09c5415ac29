/** Filesystems that fill up: which pasts are a trend. */
import t from 'tap';
import { daysLeft, trendPoints } from '#src/history/trend.js';
import { createRandom } from '../helpers/random.ts';

const HOURS = 7 * 24;
const hourly = (valueAt: (hour: number) => number | null, count = HOURS) =>
  Array.from({ length: count }, (_, hour) => valueAt(hour));
const left = (values: readonly (number | null)[]) => daysLeft(values, 1 / 24);

t.test(
  '[12.disk-filling] a steady growth has an end, whatever is missing and however it trembles',
  async (t) => {
    t.equal(Math.round(left(hourly((hour) => 50 + hour / 24)) ?? 0), 43, '1 % per day, at 57 %');
    const random = createRandom(1);
    const trembling = hourly((hour) => (hour % 5 === 0 ? null : 30 + hour / 4 + random.below(100) / 50));
    const days = left(trembling) ?? 0;
    t.ok(days > 4 && days < 5.2, `${days}: 6 % per day, at 72 %`);
    t.ok((left(hourly((hour) => 80 + hour / 10, 25)) ?? 0) > 6, 'a day is enough');
  },
);

t.test('[12.disk-filling] what does not grow, or not steadily, has no end', async (t) => {
  for (const [name, values] of [
    ['the same', hourly(() => 99)],
    ['it shrinks', hourly((hour) => 90 - hour / 10)],
    ['one jump', hourly((hour) => (hour < 84 ? 20 : 80))],
    ['a log that is rotated each day', hourly((hour) => 50 + (hour % 24))],
    ['less than a day', hourly((hour) => 50 + hour, 24)],
    ['nothing', []],
    ['one value', [5]],
    ['no value', hourly(() => null)],
  ] as const)
    t.equal(left(values), null, name);
});

t.test('[12.disk-filling] one point per filesystem that will be full within a year', async (t) => {
  const unit = '%';
  const series = {
    'disk.used_percent//': { unit, mean: hourly((hour) => 50 + hour / 24) },
    'disk.used_percent//srv/a b': { unit, mean: hourly((hour) => hour / 2) },
    'disk.used_percent//slow': { unit, mean: hourly((hour) => 10 + hour / 1000) },
    'disk.used_percent//still': { unit, mean: hourly(() => 10) },
  };
  t.match(trendPoints({ step: 3600, series }), [
    { name: 'disk.days_left//', unit: 'days' },
    { name: 'disk.days_left//srv/a b', unit: 'days' },
  ]);
  t.equal(trendPoints({ step: 3600, series }).length, 2);
});
