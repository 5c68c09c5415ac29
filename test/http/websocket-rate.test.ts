/** The rate limit for the messages of a socket, at times that the test chooses. */
import t from 'tap';
import { MessageRate } from '#src/viewers/socket/message-rate.js';

const countOf = (rate: MessageRate, messages: number, nowMs: number) => {
  const counts = { granted: 0, refused: 0, flood: 0 };
  for (let i = 0; i < messages; i++) counts[rate.take(nowMs)]++;
  return counts;
};

t.test('[7.limit-rate] a burst of 40, then as many as the elapsed time allows', async (t) => {
  const rate = new MessageRate();
  t.strictSame(countOf(rate, 60, 0), { granted: 40, refused: 20, flood: 0 });
  t.strictSame(countOf(rate, 15, 500), { granted: 10, refused: 5, flood: 0 });
  t.strictSame(
    countOf(rate, 50, 1_000_000),
    { granted: 40, refused: 10, flood: 0 },
    'never a burst of more than 40',
  );
});

t.test('[7.limit-rate] 20 per second, indefinitely', async (t) => {
  const rate = new MessageRate();
  countOf(rate, 40, 0);
  for (let second = 1; second <= 600; second++)
    t.strictSame(countOf(rate, 20, second * 1000), { granted: 20, refused: 0, flood: 0 });
});

t.test(
  '[7.limit-flood] a burst of a hundred refusals, or more refusals per second than the rate allows messages, are a flood',
  async (t) => {
    t.strictSame(countOf(new MessageRate(), 200, 0), { granted: 40, refused: 100, flood: 60 });
    const twice = new MessageRate();
    countOf(twice, 40, 0);
    for (let second = 1; second <= 100; second++)
      t.equal(countOf(twice, 40, second * 1000).flood, 0, 'twice the rate');
    const more = new MessageRate();
    countOf(more, 40, 0);
    const floods = Array.from({ length: 20 }, (_, i) => countOf(more, 60, (i + 1) * 1000).flood);
    t.ok(
      floods.some((count) => count > 0),
      'three times the rate',
    );
  },
);
