/** The clock of a machine, as a hub knows it. */
import t from 'tap';
import { RemoteClock } from '#src/socket/remote-clock.js';

t.test('[11.deadline] the fastest message of the last minute sets the difference', async (t) => {
  const clock = new RemoteClock();
  t.equal(clock.at(1000, 1000), undefined, 'no message yet');
  // The machine's clock is 5000 ms ahead; what the messages took on their way is subtracted.
  clock.take(6000 - 40, 1000);
  t.equal(clock.at(1000, 1000), 5960);
  clock.take(7000 - 300, 2000);
  t.equal(clock.at(2000, 2000), 6960, 'a slower one says less');
  clock.take(8000 - 10, 3000);
  t.equal(clock.at(3500.9, 3000), 8490, 'a faster one says more, rounded down');
  clock.take(63_000 - 50, 58_000);
  t.equal(clock.at(63_000, 63_000), 67_990, '60 s old');
  t.equal(clock.at(63_001, 63_001), undefined, 'older');
  clock.take(69_000 - 50, 64_000);
  t.equal(clock.at(64_000, 64_000), 68_950, 'after that any is better than none');
});
