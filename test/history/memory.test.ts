/** The rings of slots: what they keep, what they drop, and how much memory that is. */
import t from 'tap';
import { PLACES } from '#src/fairness/limits.js';
import type { SeriesPoint } from '#src/history/history.js';
import { Memory } from '#src/history/memory.js';
import { Ring } from '#src/history/ring.js';
import { pointsOf } from '#src/history/series.js';
import { createRandom } from '../helpers/random.ts';
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

const valuesOf = (ring: Ring, from: number, until: number) =>
  Array.from({ length: until - from }, (_, at) => ring.get(from + at, 0));
const { NaN: NONE } = Number;

t.test('copies into a smaller and into a larger one', async (t) => {
  const ring = new Ring(4, 1);
  new Ring(8, 1).copy(ring);
  for (const slot of [1, 2, 4, 5]) ring.put(slot, slot);
  const [small, large] = [new Ring(2, 1), new Ring(9, 1)];
  small.copy(ring);
  large.copy(ring);
  t.strictSame(valuesOf(small, 1, 6), [NONE, NONE, NONE, 4, 5]);
  t.strictSame(valuesOf(large, 0, 6), [NONE, NONE, 2, NONE, 4, 5], 'it has what the other had');
});

t.test('equals a map of all slots', async (t) => {
  const random = createRandom(5);
  const ring = new Ring(20, 1);
  const all = new Map<number, number>();
  // Slots before 1970 too.
  let end = -400;
  for (let step = 0; step < 4000; step++) {
    if (random.below(30) === 0) {
      end -= random.below(25);
      ring.dropFrom(end);
      for (const slot of all.keys()) if (slot >= end) all.delete(slot);
    } else {
      // Late ones are put, and those that are too old are not.
      const slot = end - (random.below(9) === 0 ? 23 : 3) + random.below(random.below(9) === 0 ? 60 : 6);
      end = Math.max(end, slot + 1);
      const first = slot - Math.max(0, random.below(50) - 25);
      for (let at = first; at <= slot; at++) all.set(at, step);
      for (const old of all.keys()) if (old < end - 20) all.delete(old);
      if (first === slot) ring.put(slot, step);
      else ring.putAll(first, slot, step);
    }
    for (let slot = end - 25; slot < end + 3; slot++) {
      const [found, expected] = [ring.get(slot, 0), all.get(slot) ?? NONE];
      if (Object.is(found, expected)) continue;
      t.fail(`step ${step}, slot ${slot}: ${found}, not ${expected}`);
      return;
    }
  }
  t.ok(end > 500, `${end} slots`);
  t.strictSame([ring.last, ring.bytes], [end - 1, 20 * 4]);
});
