/** The clock of an agent, as a hub knows it. */
import t from 'tap';
import { AgentClock } from '#src/agent/remote/agent-clock.js';

t.test('[3.mqtt-hub-deadline] the fastest message of the last minute sets the difference', async (t) => {
  const clock = new AgentClock();
  t.equal(clock.at(1000, 1000), undefined, 'no message yet');
  // The agent's clock is 5000 ms ahead; what the messages took on their way is subtracted.
  clock.take({ run: 'a', clock: 6000 - 40 }, 1000);
  t.strictSame(clock.at(1000, 1000), { run: 'a', clock: 5960 });
  clock.take({ run: 'a', clock: 7000 - 300 }, 2000);
  t.strictSame(clock.at(2000, 2000), { run: 'a', clock: 6960 }, 'a slower one says less');
  clock.take({ run: 'a', clock: 8000 - 10 }, 3000);
  t.strictSame(clock.at(3500.9, 3000), { run: 'a', clock: 8490 }, 'a faster one says more, rounded down');
  clock.take({ run: 'a', clock: 63_000 - 50 }, 58_000);
  t.strictSame(clock.at(63_000, 63_000), { run: 'a', clock: 67_990 }, '60 s old');
  t.equal(clock.at(63_001, 63_001), undefined, 'older');
  clock.take({ run: 'a', clock: 69_000 - 50 }, 64_000);
  t.strictSame(clock.at(64_000, 64_000), { run: 'a', clock: 68_950 }, 'after that any is better than none');
});

t.test('[3.mqtt-hub-deadline] another run of the agent has another clock', async (t) => {
  const clock = new AgentClock();
  clock.take({ run: 'a', clock: 6000 }, 1000);
  clock.take({ run: 'b', clock: 10 }, 2000);
  t.strictSame(clock.at(2000, 2000), { run: 'b', clock: 10 }, 'however far behind');
  clock.forget();
  t.equal(clock.at(2000, 2000), undefined);
});
