/** The rate limit for the messages of a socket, at times that the test chooses. */
import t from 'tap';
import { RATES } from '#src/fairness/limits.js';
import { Bucket } from '#src/fairness/rate.js';

/** As SocketSession takes from the two. */
class Messages {
  readonly #messages = new Bucket(RATES.messages, 0);
  readonly #refusals = new Bucket(RATES.refusedMessages, 0);

  count(messages: number, nowMs: number) {
    const counts = { granted: 0, refused: 0, flood: 0 };
    for (let i = 0; i < messages; i++)
      if (this.#messages.takeOne(nowMs)) counts.granted++;
      else if (this.#refusals.takeOne(nowMs)) counts.refused++;
      else counts.flood++;
    return counts;
  }
}

t.test('[7.limit-rate] a burst of 40, then as many as the elapsed time allows', async (t) => {
  const rate = new Messages();
  t.strictSame(rate.count(60, 0), { granted: 40, refused: 20, flood: 0 });
  t.strictSame(rate.count(15, 500), { granted: 10, refused: 5, flood: 0 });
  t.strictSame(
    rate.count(50, 1_000_000),
    { granted: 40, refused: 10, flood: 0 },
    'never a burst of more than 40',
  );
});

t.test('[7.limit-rate] 20 per second, indefinitely', async (t) => {
  const rate = new Messages();
  rate.count(40, 0);
  for (let second = 1; second <= 600; second++)
    t.strictSame(rate.count(20, second * 1000), { granted: 20, refused: 0, flood: 0 });
});

t.test(
  '[7.limit-flood] a burst of a hundred refusals, or more refusals per second than the rate allows messages, are a flood',
  async (t) => {
    t.strictSame(new Messages().count(200, 0), { granted: 40, refused: 100, flood: 60 });
    const twice = new Messages();
    twice.count(40, 0);
    for (let second = 1; second <= 100; second++)
      t.equal(twice.count(40, second * 1000).flood, 0, 'twice the rate');
    const more = new Messages();
    more.count(40, 0);
    const floods = Array.from({ length: 20 }, (_, i) => more.count(60, (i + 1) * 1000).flood);
    t.ok(
      floods.some((count) => count > 0),
      'three times the rate',
    );
  },
);
