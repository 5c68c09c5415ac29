/** The history answers as a recorder that keeps everything would, over some hours of random lives. */
import t from 'tap';
import { Life } from './life.ts';

const LIVES = 8;
const HOURS = 2;

t.test(
  '[4.history-equal] loads, subscribers, reloads, restarts, suspends and clock jumps at random',
  async (t) => {
    const sum = { samples: 0, queries: 0, numbers: 0, restarts: 0, marks: 0 };
    for (let seed = 1; seed <= LIVES; seed++) {
      const life = new Life(seed);
      await life.run(HOURS);
      t.strictSame(life.faults.slice(0, 3), [], `seed ${seed}`);
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += life.counts[key]; // Its own keys.
    }
    t.comment(JSON.stringify(sum));
    t.ok(sum.numbers > 10_000 && sum.restarts > 5 && sum.marks > 50, 'they were no quiet lives');
  },
);
