/** The data of the charts: slots of equal length, what is filled into them, and what is drawn as a gap. */
import t from 'tap';
import { History, type Point, RANGES, rangeOf, sumOf } from '../../web/history.ts';

const [FIVE_MINUTES, HOUR] = RANGES;

const push = (history: History, time: number, values: Readonly<Record<string, Point>>, interval = 2) =>
  history.push(time, interval, new Map(Object.entries(values)));
const meansOf = (history: History, name: string) => history.columns(name)?.[0] ?? [];
/** The last slots, as pairs of time and mean. */
const lastOf = (history: History, name: string, count: number) =>
  history.times.map((time, i) => [time, meansOf(history, name)[i] ?? null] as const).slice(-count);
const lastColumns = (history: History, name: string) =>
  history.columns(name)?.map((column) => column?.at(-1) ?? null);

for (const range of RANGES)
  t.test(`${range.label}: so much is held, in slots of ${range.step} s, and nothing older`, async (t) => {
    const history = new History(range);
    const end = 3 * range.seconds;
    const every = Math.max(2, range.step / 5);
    for (let time = 0; time <= end; time += every) push(history, time, { a: time }, every);
    t.equal(history.times.length, range.seconds / range.step + 1);
    t.equal(history.times.at(-1), end);
    t.equal(history.times[0], end - range.seconds);
    t.notOk(meansOf(history, 'a').includes(null));
    t.equal(history.slotOf(history.times[7] ?? 0), 7);
  });

t.test('a range that ends before now: the smallest step of at most 720 slots, and no samples', async (t) => {
  const now = 1_800_000_000;
  const stepOf = (from: number, until: number) => rangeOf(from, until, '', now).step;
  t.equal(stepOf(now - 200, now - 100), 1, 'each second is kept for five minutes');
  t.equal(stepOf(now - 7200, now - 7100), 10);
  t.equal(stepOf(now - 86_400, now), 120);
  t.equal(stepOf(now - 365 * 86_400, now), 86_400);
  const range = rangeOf(now - 7205, now - 3605, '', now);
  t.match(range, { from: now - 7210, seconds: 3610, step: 10 }, 'whole slots');
  t.equal(rangeOf(now - 7200, now - 7195, '', now).seconds, 60, 'a minute at least');
  const history = new History(range);
  t.equal(history.times.length, 361);
  t.equal(history.times[0], now - 7210);
  push(history, now, { a: 1 });
  t.equal(history.columns('a'), undefined, 'a sample of now is not in it');
  history.fill({ start: now - 7220, step: 20, series: { a: { mean: [3, 4], min: [1, 2], max: [5, 6] } } });
  t.strictSame(
    history.columns('a')?.map((column) => column?.slice(0, 4)),
    [
      [3, 4, 4, null],
      [1, 2, 2, null],
      [5, 6, 6, null],
    ],
    'all that the service answers, from longer slots too',
  );
  t.ok(history.hasValue('a', now - 7210, now - 7200));
  t.notOk(history.hasValue('a', now - 7180, now));
  t.notOk(history.hasValue('b', 0, now));
});

t.test('the first value holds since the last reading before it, unless that is longer ago', async (t) => {
  const filled = (known: readonly Point[]) => {
    const history = new History(FIVE_MINUTES);
    push(history, 1000, { a: 7 });
    history.fill({ start: 981, step: 1, series: { a: { mean: known } } });
    return meansOf(history, 'a').slice(-20);
  };
  const nulls = (count: number) => Array<null>(count).fill(null);
  t.strictSame(filled([5, 5, 5, 5, 5, 5, 5, 5]), [...Array(8).fill(5), ...Array(12).fill(7)]);
  t.strictSame(filled([5, 5]), [5, 5, ...nulls(16), 7, 7], 'a gap');
  t.strictSame(filled([]), [...nulls(18), 7, 7], 'nothing before');
});

t.test('a value holds for its interval, and a late sample from the one before', async (t) => {
  const history = new History(FIVE_MINUTES);
  push(history, 10, { a: 1 });
  push(history, 12, { a: 2 });
  push(history, 16, { a: 3 });
  t.strictSame(lastOf(history, 'a', 9), [
    [8, null],
    ...[9, 10].map((time) => [time, 1]),
    ...[11, 12].map((time) => [time, 2]),
    ...[13, 14, 15, 16].map((time) => [time, 3]),
  ]);
  push(history, 22, { a: 4 });
  t.strictSame(
    lastOf(history, 'a', 6).map(([, value]) => value),
    [null, null, null, null, 4, 4],
    'after a longer pause there is a gap',
  );
});

t.test('a slot of 10 s has the mean over its time, and the least and the greatest value', async (t) => {
  const history = new History(HOUR);
  push(history, 1001, { a: 10 });
  push(history, 1003, { a: 40 });
  t.strictSame(lastColumns(history, 'a'), [25, 10, 40]);
  push(history, 1005, { a: 10 });
  t.strictSame(lastColumns(history, 'a'), [20, 10, 40]);
  push(history, 1011, { a: 7 }, 5);
  t.strictSame(lastColumns(history, 'a'), [7, 7, 7], 'the next slot');
  t.equal(meansOf(history, 'a').at(-2), 20, 'the one before is that of its own samples');
});

t.test('slots that one interval covers have its value', async (t) => {
  const history = new History(HOUR);
  push(history, 1000, { a: 1 }, 30);
  push(history, 1030, { a: 2 }, 30);
  t.strictSame(lastOf(history, 'a', 6), [
    [980, 1],
    [990, 1],
    [1000, 1],
    [1010, 2],
    [1020, 2],
    [1030, 2],
  ]);
});

t.test("the service's values fill the gaps, and nothing that it does not know is lost", async (t) => {
  const history = new History(FIVE_MINUTES);
  push(history, 1000, { a: 1, b: 5 });
  history.fill({
    start: 990,
    step: 1,
    series: { a: { mean: [7, 8, null, 9, 0, 0, 0, 0, 0, null, 3, 99] }, elsewhere: { mean: [1] } },
  });
  t.strictSame(
    lastOf(history, 'a', 12).map(([, value]) => value),
    [null, 7, 8, null, 9, 0, 0, 0, 0, 0, 1, 3],
    '999 was not known there, and 1001 is not here yet',
  );
  t.equal(history.columns('elsewhere'), undefined, 'a series that this machine does not have');
  t.equal(meansOf(history, 'b').at(-1), 5);
  history.fill({ start: 940, step: 60, series: { b: { mean: [6, 4] } } });
  t.strictSame(
    lastOf(history, 'b', 3).map(([, value]) => value),
    [6, 6, 4],
    'slots that are longer than those of the page',
  );
});

t.test('bands are filled, where the service sends them', async (t) => {
  const history = new History(HOUR);
  push(history, 1000, { a: 1, b: 1 });
  history.fill({
    start: 980,
    step: 10,
    series: { a: { mean: [5, 6], min: [4, 4], max: [9, 8] }, b: { mean: [5, 6] } },
  });
  const at = (name: string) => history.columns(name)?.map((column) => column?.at(-2) ?? null);
  t.strictSame(at('a'), [6, 4, 8]);
  t.strictSame(at('b'), [6, 6, 6]);
});

t.test('a series is unknown before it starts and after it ends, and finally dropped', async (t) => {
  const history = new History(FIVE_MINUTES);
  push(history, 10, { a: 1 });
  push(history, 12, { a: 2, b: 5 });
  push(history, 14, { b: 6, c: null });
  t.strictSame(
    lastOf(history, 'a', 4).map(([, value]) => value),
    [2, 2, null, null],
  );
  t.strictSame(
    lastOf(history, 'b', 6).map(([, value]) => value),
    [null, null, 5, 5, 6, 6],
  );
  t.equal(history.columns('never'), undefined);
  for (let time = 16; time < 1000; time += 2) push(history, time, { b: 7 });
  t.equal(history.columns('a'), undefined);
});

t.test('a repeated sample changes nothing, and a clock that is set back starts anew', async (t) => {
  const history = new History(FIVE_MINUTES);
  push(history, 60, { a: 1 });
  push(history, 60, { a: 2 });
  t.equal(meansOf(history, 'a').at(-1), 1);
  push(history, 30, { a: 4 });
  t.equal(history.times.at(-1), 30);
  t.strictSame(
    meansOf(history, 'a').filter((value) => value !== null),
    [4, 4],
  );
  push(history, 100_000, { a: 5 });
  t.equal(history.times[0], 100_000 - FIVE_MINUTES.seconds, 'and one that is set forward moves on');
  t.equal(history.times.length, 301);
});

t.test('sums: of what is known, and unknown where nothing is', async (t) => {
  const parts = [
    { mean: [1, null, null], min: [0, null, null], max: [2, null, null] },
    { mean: [5, 6, null] },
  ];
  t.strictSame(sumOf(parts), { mean: [6, 6, null], min: [5, 6, null], max: [7, 6, null] });
  t.strictSame(sumOf([{ mean: [8] }], 0.5).mean, [4]);
  t.strictSame(sumOf([]).mean, []);
});
