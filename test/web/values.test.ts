/** The page's values: their formats, and the history for the charts. */
import t from 'tap';
import { bytes, clock, duration, measured, percent, rate, rateTick } from '../../web/format.ts';
import { History, shareOf, WINDOW_SECONDS } from '../../web/history.ts';

t.test('unknown values of every kind are n/a', async (t) => {
  for (const write of [percent, bytes, rate, rateTick, clock, duration])
    for (const unknown of [null, undefined, Number.NaN, Number.POSITIVE_INFINITY])
      t.equal(write(unknown), 'n/a');
  t.equal(measured(null, 'V'), 'n/a');
});

t.test('sizes have three significant digits', async (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '0.98 KiB'],
    [1024, '1.00 KiB'],
    [10_239, '10.0 KiB'],
    [102_348, '99.9 KiB'],
    [1023 * 1024, '1.00 MiB'],
    [1024 ** 3, '1.00 GiB'],
    [16.05 * 1024 ** 3, '16.1 GiB'],
    [5000 * 1024 ** 5, '5000 PiB'],
  ];
  for (const [value, text] of cases) t.equal(bytes(value), text);
  t.equal(rateTick(8 * 1024 ** 2), '8 MiB/s');
});

t.test('times', async (t) => {
  t.equal(clock(0), '0:00');
  t.equal(clock(187.9), '3:07');
  t.equal(clock(3723), '1:02:03');
  t.equal(duration(59), '0 min');
  t.equal(duration(7500), '2 h 5 min');
  t.equal(duration(3 * 86_400 + 4 * 3600), '3 d 4 h');
});

const push = (history: History, time: number, values: Readonly<Record<string, number | null>>) =>
  history.push(time, 2, new Map(Object.entries(values)));

t.test('a history holds five minutes and nothing older', async (t) => {
  const history = new History();
  for (let time = 0; time <= 5000; time += 2) push(history, time, { a: time });
  t.equal(history.times.length, WINDOW_SECONDS / 2 + 1);
  t.equal(history.times[0], 5000 - WINDOW_SECONDS);
  t.equal(history.series('a').length, history.times.length);
  t.equal(history.series('a').at(-1), 5000);
});

t.test(
  'a series is unknown before it starts, while it pauses and after it ends, and finally dropped',
  async (t) => {
    const history = new History();
    push(history, 10, { a: 1 });
    push(history, 12, { a: 2, b: 5 });
    push(history, 14, { b: 6 });
    t.strictSame(history.series('a'), [1, 2, null]);
    t.strictSame(history.series('b'), [null, 5, 6]);
    t.strictSame(history.series('never'), [null, null, null]);
    for (let time = 16; time < 1000; time += 2) push(history, time, { b: 7 });
    push(history, 1000, { a: 3, b: 8 });
    t.ok(
      history
        .series('a')
        .slice(0, -1)
        .every((point) => point === null),
      'nothing old came back',
    );
  },
);

t.test(
  'a gap is drawn, a repeated sample is not, and a clock that is set back starts a new history',
  async (t) => {
    const history = new History();
    push(history, 10, { a: 1 });
    push(history, 10, { a: 1 });
    push(history, 15, { a: 2 });
    t.strictSame(history.times, [10, 15], 'late, but no gap');
    push(history, 60, { a: 3 });
    t.strictSame(history.times, [10, 15, 17, 60]);
    t.strictSame(history.series('a'), [1, 2, null, 3]);
    push(history, 30, { a: 4 });
    t.strictSame(history.times, [30]);
    t.strictSame(history.series('a'), [4]);
  },
);

t.test('shares', async (t) => {
  t.equal(shareOf(1, 4), 25);
  t.equal(shareOf(null, 4), null);
  t.equal(shareOf(1, null), null);
  t.equal(shareOf(0, 0), null);
});
