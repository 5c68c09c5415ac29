/** A week of a random life, and other weeks at half a day each: equal to the recorder that keeps everything. */
import t from 'tap';
import { Life } from '../life.ts';

const LIVES = [
  { seed: 101, hours: 168 },
  ...Array.from({ length: 14 }, (_, at) => ({ seed: 200 + at, hours: 12 })),
];

t.test('[4.history-equal] a simulated week equals the reference', { timeout: 3_600_000 }, async (t) => {
  for (const { seed, hours } of LIVES) {
    const life = new Life(seed);
    await life.run(hours);
    t.strictSame(life.faults.slice(0, 3), [], `seed ${seed}: ${JSON.stringify(life.counts)}`);
    t.ok(life.counts.numbers > 20_000, 'numbers were compared');
  }
});
