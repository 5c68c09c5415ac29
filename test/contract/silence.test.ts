/** Comments on streams: after 15 s of silence and never otherwise. The service runs on the test's clock. */
import t, { type Test } from 'tap';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { ask } from '../helpers/clients/http.ts';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { fixtureHost, untilSent } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';

/** The window of a first load. */
const FIRST_WINDOW_MS = 200;

async function open(t: Test, intervalSeconds: number) {
  const clock = new FakeClock();
  const config = { stats: { stream_interval_seconds: intervalSeconds } };
  const service = await serveHere(t, fixtureHost(), config, { clock });
  const opening = EventStream.open(service.port);
  while (clock.timers === 0) await settle();
  await clock.advance(FIRST_WINDOW_MS);
  const stream = await opening;
  t.teardown(() => stream.close());
  t.match((await stream.next()).text, /^data: /, 'the first message comes at once');
  return { clock, service, stream };
}

t.test(
  '[4.comment] at an interval of 20 s a comment comes after 15 s, and the message on time',
  async (t) => {
    const { clock, service, stream } = await open(t, 20);
    const { arrivals } = stream.connection;
    const before = arrivals.length;
    const comments = stream.comments.length;
    await clock.advance(14_900);
    await untilSent();
    t.equal((await ask(service.port, '/api/status')).status, 200);
    t.equal(arrivals.length, before, 'silence for 14.9 s');
    await clock.advance(1600);
    t.equal((await stream.comment(comments)).text, ':', 'a comment before 16.5 s');
    t.equal(stream.count(), 1, 'and no message');
    const then = arrivals.length;
    await clock.advance(3400);
    await untilSent();
    t.equal((await ask(service.port, '/api/status')).status, 200);
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
