/** Comments on streams: after 15 s of silence and never otherwise. The service runs on the test's clock. */
import t, { type Test } from 'tap';
import { ask } from '../helpers/clients/http.ts';
import { fixtureHost, untilSent } from '../helpers/fakes/host.ts';
import { startOnClock } from '../helpers/service/clocked.ts';

async function open(t: Test, intervalSeconds: number) {
  const config = { stats: { stream_interval_seconds: intervalSeconds } };
  const { clock, port, open, withFirstLoad } = await startOnClock(t, fixtureHost(), config);
  const stream = await withFirstLoad(() => open());
  t.match((await stream.next()).text, /^data: /, 'the first message comes at once');
  return { clock, port, stream };
}

t.test(
  '[4.comment] at an interval of 20 s a comment comes after 15 s, and the message on time',
  async (t) => {
    const { clock, port, stream } = await open(t, 20);
    const { arrivals } = stream.connection;
    const before = arrivals.length;
    const comments = stream.comments.length;
    await clock.advance(14_900);
    await untilSent();
    t.equal((await ask(port, '/api/status')).status, 200);
    t.equal(arrivals.length, before, 'silence for 14.9 s');
    await clock.advance(1600);
    t.equal((await stream.comment(comments)).text, ':', 'a comment before 16.5 s');
    t.equal(stream.count(), 1, 'and no message');
    const then = arrivals.length;
    await clock.advance(3400);
    await untilSent();
    t.equal((await ask(port, '/api/status')).status, 200);
    t.equal(arrivals.length, then, 'silence before 20 s');
    await clock.advance(200);
    t.match((await stream.next()).text, /^data: /);
  },
);

t.test('[4.no-comment] at an interval below 15 s there is none', async (t) => {
  const { clock, stream } = await open(t, 9);
  const { arrivals } = stream.connection;
  const before = arrivals.length;
  for (let i = 0; i < 3; i++) {
    await clock.advance(9000);
    t.match((await stream.next()).text, /^data: /);
  }
  t.equal(arrivals.length, before + 3, 'one write per message, nothing in between');
});
