/** The rings of all series: what they keep, what they drop, and how much memory that is. */
import t from 'tap';
import { PLACES } from '#src/fairness/limits.js';
import type { SeriesPoint } from '#src/history/history.js';
import { Memory } from '#src/history/memory.js';
import { pointsOf } from '#src/history/series.js';
import { desktopAt, samplesOf } from './samples.ts';

const point = (value: number | null, name = 'cpu.load'): SeriesPoint => ({ name, unit: '%', value });

/** Adds one value of one series at each of the moments. */
function record(memory: Memory, values: readonly (readonly [at: number, value: number])[], name?: string) {
  return values.flatMap(([at, value]) => {
    const ended = memory.advance(at);
    memory.add(at, 0, [point(value, name)]);
    return ended === undefined ? [] : [ended];
  });
}

t.test('a value that is not known creates nothing', async (t) => {
  const memory = new Memory(60);
  memory.advance(1000);
  memory.add(1000, 0, [point(null), point(Number.NaN, 'cpu.speed'), point(1, 'memory.used')]);
  t.strictSame([...memory.names], ['memory.used']);
  t.equal(memory.advance(1011)?.values.size, 1);
  t.equal(memory.advance(1021), undefined, 'a slot without values');
});

t.test('more series than there may be are refused, and counted', async (t) => {
  const memory = new Memory(1);
  memory.advance(1000);
  const many = Array.from({ length: PLACES.series.max + 3 }, (_, at) => point(1, `disk.read//${at}`));
  t.equal(memory.add(1000, 0, many), 3);
  t.equal(memory.add(1001, 0, many.slice(0, 2)), 0);
  t.equal([...memory.names].length, PLACES.series.max);
});

t.test('a series without a value in all the time is dropped, and makes room', async (t) => {
  const memory = new Memory(10);
  record(memory, [[1000, 1]], 'sensor.temperature/gone');
  record(memory, [[1300, 1]]);
  t.strictSame([...memory.names], ['sensor.temperature/gone', 'cpu.load']);
  record(memory, [[1599, 1]]);
  t.equal([...memory.names].length, 2);
  record(memory, [[1620, 1]]);
  t.strictSame([...memory.names], ['cpu.load']);
  const short = new Memory(1);
  record(short, [[1000, 1]], 'sensor.temperature/gone');
  record(short, [[1290, 1]]);
  t.equal([...short.names].length, 2, 'the last five minutes are kept by the second');
});

t.test('the clock is set back: its slot begins anew', async (t) => {
  const memory = new Memory(60);
  record(memory, [
    [1003, 1],
    [1015, 2],
    [1027, 3],
  ]);
  memory.dropFrom(1017);
  t.equal(memory.advance(1017), undefined, 'what was being filled is not handed on');
  const series = memory.reader('cpu.load');
  t.strictSame(
    [100, 101, 102].map((slot) => series?.coarse(slot)?.mean),
    [1, undefined, undefined],
  );
  record(memory, [[1018, 5]]);
  t.strictSame(series?.coarse(101), { mean: 5, min: 5, max: 5 });
  t.equal(series?.fine(1015), 2, 'its seconds before are still known');
  memory.dropFrom(3);
  record(memory, [[4, 6]]);
  t.equal(memory.firstSlot, 0, 'before the first value');
  t.equal(memory.reader('cpu.load')?.coarse(0)?.mean, 6);
});

t.test(
  '[4.history-memory] 60 minutes of a desktop with 16 cores, 8 disks and 12 sensors take less than 2 MiB',
  async (t) => {
    const memory = new Memory(60);
    const samples = samplesOf([desktopAt(100), desktopAt(110)]);
    for (const [at, sample] of samples.entries()) {
      memory.advance(100 + at);
      memory.add(100 + at, 0, pointsOf(sample, samples[at - 1]));
    }
    const { length } = [...memory.names];
    t.ok(length > 80, `${length} series`);
    t.equal(memory.bytes, length * (300 + 360 * 3) * 4, 'a series has the same size from its first value on');
    t.ok(memory.bytes < 2 * 2 ** 20, `${memory.bytes} bytes`);
    t.comment(`${length} series, ${(memory.bytes / 2 ** 20).toFixed(2)} MiB`);
  },
);
