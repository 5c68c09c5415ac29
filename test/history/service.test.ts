/** The history in the service: its readings without clients, with a history and without. */
import t from 'tap';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { startOnClock } from '../helpers/service/clocked.ts';

const HOUR_MS = 3_600_000;

t.test('[4.demand] with history.minutes: 0 nothing is read without clients', async (t) => {
  const host = fixtureHost();
  const { clock } = await startOnClock(t, host, { history: { minutes: 0 } });
  await clock.advance(HOUR_MS);
  t.equal(host.reads, 0);
});

t.test(
  '[4.history-idle] [4.history-shared] otherwise one reading every 10 s, and a stream gets its own events alone',
  async (t) => {
    const host = fixtureHost({ batteries: [] });
    const { clock, open } = await startOnClock(t, host, { history: { minutes: 60 } });
    await clock.advance(HOUR_MS);
    t.ok(host.reads >= 360 && host.reads <= 362, `${host.reads} readings`);
    // At the time of a reading: the stream begins with its sample.
    await clock.advance(10_000 - ((1e12 + clock.now() - 5000) % 10_000));
    const stream = await open('/api/stream?fields=cpu');
    await stream.next();
    const before = host.reads;
    for (let tick = 0; tick < 10; tick++) {
      await clock.advance(2000);
      await stream.next();
    }
    t.equal(host.reads, before + 10, 'its ticks read for both');
    t.equal(stream.count(), 11, 'and it is sent these alone');
  },
);
