/** The ring of slots. */
import t from 'tap';
import { Ring } from '#src/history/ring.js';
import { createRandom } from '../helpers/random.ts';

const valuesOf = (ring: Ring, from: number, until: number) =>
  Array.from({ length: until - from }, (_, at) => ring.get(from + at, 0));
const { NaN: NONE } = Number;

t.test('the newest slots are kept, and those that were left out are empty', async (t) => {
  const ring = new Ring(4, 2);
  t.equal(ring.last, Number.NEGATIVE_INFINITY);
  t.strictSame(valuesOf(ring, 0, 2), [NONE, NONE]);
  ring.put(10, 1, 100);
  ring.put(12, 2, 200);
  t.strictSame(valuesOf(ring, 8, 14), [NONE, NONE, 1, NONE, 2, NONE]);
  t.strictSame([ring.get(10, 1), ring.get(12, 1), ring.last], [100, 200, 12]);
  ring.put(14, 3, 300);
  t.strictSame(valuesOf(ring, 9, 15), [NONE, NONE, NONE, 2, NONE, 3], '10 is forgotten');
  ring.put(13, 4, 400);
  ring.put(3, 5, 500);
  t.strictSame(valuesOf(ring, 11, 15), [NONE, 2, 4, 3], 'a late one is put, one that is too old is not');
  ring.put(1e9, 6, 600);
  t.strictSame(valuesOf(ring, 1e9 - 4, 1e9 + 1), [NONE, NONE, NONE, NONE, 6], 'after a long time');
  t.equal(ring.bytes, 4 * 2 * 4);
});

t.test('dropping: nothing old appears in the places of the new', async (t) => {
  const ring = new Ring(4, 1);
  for (const slot of [1, 2, 3, 4, 5, 6]) ring.put(slot, slot);
  ring.dropFrom(5);
  t.strictSame(valuesOf(ring, 0, 7), [NONE, NONE, NONE, 3, 4, NONE, NONE]);
  t.equal(ring.last, 4);
  ring.dropFrom(9);
  t.equal(ring.last, 4, 'nothing is there');
  ring.dropFrom(-3);
  t.strictSame(valuesOf(ring, -8, 7), Array(15).fill(NONE));
  ring.put(-2, 7);
  t.equal(ring.get(-2, 0), 7, 'before 1970');
});

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
  let end = 0;
  for (let step = 0; step < 4000; step++) {
    if (random.below(30) === 0) {
      end = Math.max(0, end - random.below(25));
      ring.dropFrom(end);
      for (const slot of all.keys()) if (slot >= end) all.delete(slot);
    } else {
      const slot = Math.max(0, end - 3 + random.below(random.below(9) === 0 ? 60 : 6));
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
});
