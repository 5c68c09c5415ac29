/** The delays of clients before they try again. */
import t from 'tap';
import { Backoff } from '#src/client/lasting.js';
import { surroundings } from './surroundings.ts';

t.test('the initial delay is short, each further one twice as long, none above 10 s', async (t) => {
  const latest = new Backoff(surroundings({ random: () => 0 }).environment);
  const soonest = new Backoff(surroundings({ random: () => 0.999_999 }).environment);
  const steps = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000];
  t.strictSame(
    steps.map(() => latest.next()),
    steps,
  );
  t.strictSame(
    steps.map(() => Math.round(soonest.next())),
    steps.map((ms) => ms / 2),
    'jitter takes up to half of it',
  );
  for (let i = 0; i < 2000; i++) latest.next();
  t.equal(latest.next(), 10_000, 'also after days');
});

t.test('clients that were disconnected together do not reconnect together', async (t) => {
  const waits = Array.from({ length: 1000 }, () =>
    new Backoff(surroundings({ random: Math.random }).environment).next(),
  );
  const perBin = new Map<number, number>();
  for (const ms of waits) perBin.set(Math.floor(ms / 12.5), (perBin.get(Math.floor(ms / 12.5)) ?? 0) + 1);
  t.equal(perBin.size, 10, 'from 125 to 250 ms, all of it');
  t.ok(Math.max(...perBin.values()) < 200, `${[...perBin.values()].join(', ')} of 1,000 a 12.5 ms`);
});

t.test(
  'delays start again after a connection that lasted, and continue to grow after a short one',
  async (t) => {
    const { environment, clock } = surroundings({ random: () => 0 });
    const backoff = new Backoff(environment);
    backoff.next();
    backoff.next();
    backoff.opened();
    await clock.advance(4999);
    t.equal(backoff.next(), 1000, 'a service that dies right after its start is left in peace');
    backoff.opened();
    await clock.advance(5000);
    t.equal(backoff.next(), 250);
    await clock.advance(60_000);
    t.equal(backoff.next(), 500, 'time without a connection is no sign of health');
  },
);

t.test(
  'the delay that the service asks for is kept, with some jitter on top, up to five minutes',
  async (t) => {
    const backoff = new Backoff(surroundings({ random: () => 0 }).environment);
    t.equal(backoff.next(3000), 3000);
    t.equal(backoff.next(100), 500, 'the own step where that is longer');
    t.equal(backoff.next(1e9), 300_000);
    backoff.atLeastMs = 7000;
    t.equal(backoff.next(), 7000, 'the retry field of a stream');
    const late = new Backoff(surroundings({ random: () => 0.999_999 }).environment);
    t.equal(Math.round(late.next(4000)), 5000);
  },
);
