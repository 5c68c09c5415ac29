/** The classifier of the timing proof finds a difference where there is one, and none where there is none. */
import t from 'tap';
import { accuracyOn, mediansOf, randomNumbers, randomOrder, type Sample } from './timing/classifier.ts';

const COUNT = 4000;

/** Samples whose durations are `first` or `second`, given a random number. */
function samplesOf(
  first: (random: () => number) => number,
  second: (random: () => number) => number,
): readonly Sample[] {
  const random = randomNumbers(7);
  return randomOrder(COUNT, 3).map((isFirst) => ({ isFirst, tookMs: (isFirst ? first : second)(random) }));
}

t.test('the order is random, balanced and repeatable', async (t) => {
  const order = randomOrder(COUNT, 1);
  t.equal(order.filter((isFirst) => isFirst).length, COUNT / 2);
  t.strictSame(randomOrder(COUNT, 1), order);
  t.notSame(randomOrder(COUNT, 2), order);
  const changes = order.filter((isFirst, index) => index > 0 && isFirst !== order[index - 1]).length;
  t.ok(Math.abs(changes - COUNT / 2) < COUNT / 20, `${changes} changes`);
});

t.test('equal distributions cannot be separated', async (t) => {
  const { best } = accuracyOn(
    samplesOf(
      (random) => random(),
      (random) => random(),
    ),
  );
  t.ok(best > 0.45 && best < 0.55, `${best}`);
  t.ok(
    accuracyOn(randomOrder(COUNT, 5).map((isFirst) => ({ isFirst, tookMs: 1 }))).best <= 0.55,
    'constants',
  );
});

t.test('a shift is found by each classifier, in either direction', async (t) => {
  for (const shift of [0.5, -0.5]) {
    const samples = samplesOf(
      (random) => random() + shift,
      (random) => random(),
    );
    const { threshold, nearest, histogram } = accuracyOn(samples);
    // Half of each distribution overlaps with the other.
    for (const [name, share] of Object.entries({ threshold, nearest, histogram }))
      t.ok(share > 0.7 && share < 0.8, `${name}: ${share}`);
    const [first, second] = mediansOf(samples);
    t.equal(Math.sign(first - second), Math.sign(shift));
  }
});

t.test('a difference in spread alone is found', async (t) => {
  const { threshold, nearest, histogram } = accuracyOn(
    samplesOf(
      (random) => 0.45 + random() / 10,
      (random) => random(),
    ),
  );
  t.ok(threshold < 0.8, 'one threshold finds only one side');
  t.ok(nearest > 0.9 && histogram > 0.85, `${nearest}, ${histogram}`);
});
