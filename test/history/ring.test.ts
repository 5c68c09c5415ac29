/** The ring of slots. */
import t from 'tap';
import { Ring } from '#src/history/ring.js';
import { createRandom } from '../helpers/random.ts';

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
