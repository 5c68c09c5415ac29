/** Charts of characters, and values as texts. */
import t from 'tap';
import { drawBars, drawChart } from '#src/cli/top/chart.js';
import { bytes, clock, duration, measured, percent, rate } from '#src/cli/top/format.js';

t.test('two points per character, four steps per row, the newest at the right', async (t) => {
  const one = { columns: 3, rows: 1, max: 100 };
  t.same(drawChart([], one, false), ['   ']);
  t.same(drawChart([100], one, false), ['  ⢸']);
  t.same(drawChart([25, 50, 75, 100], one, false), [' ⣠⣾']);
  t.same(drawChart([0, null, 0, 1], one, false), [' ⡀⣀'], 'zero is a dot, and what is not known is none');
  t.same(drawChart([1, 2, 100, 100, 100, 100, 100, 100], one, false), ['⣿⣿⣿'], 'older ones are left out');
  t.same(drawChart([50, 100], { columns: 1, rows: 2, max: 100 }, false), ['⢸', '⣿']);
  t.same(drawChart([500], { columns: 1, rows: 1, max: 100 }, false), ['⢸'], 'never higher than its rows');
});

t.test('[9.top-colours] ASCII where the terminal has no braille', async (t) => {
  t.same(drawChart([0, 25, 50, 75, 100, 100], { columns: 3, rows: 1, max: 100 }, true), ['.|#']);
  t.equal(drawBars([0, 50, 100, null], true), '049?');
  t.equal(drawBars([0, 50, 100, null], false), '▁▅█?');
});

t.test('values', async (t) => {
  t.same([0, 999, 1000, 1023, 1024, 12_345_678, 999.4 * 1024, 999.6 * 1024].map(bytes), [
    ...['0 B', '999 B', '0.98 KiB', '1.00 KiB', '1.00 KiB', '11.8 MiB', '999 KiB', '0.98 MiB'],
  ]);
  t.equal(rate(2048), '2.00 KiB/s');
  t.equal(percent(12.4), '12 %');
  t.equal(measured(1.234, 'V'), '1.23 V');
  t.same([59, 3660, 97_200].map(duration), ['0 min', '1 h 1 min', '1 d 3 h']);
  t.same([7, 187, 3723].map(clock), ['0:07', '3:07', '62:03']);
  // A service may send anything.
  for (const odd of [null, undefined, Number.NaN, '12' as unknown as number, {} as unknown as number])
    t.same([bytes(odd), percent(odd), duration(odd), clock(odd)], ['-', '-', '-', '-']);
});
