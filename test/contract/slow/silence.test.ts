/** Comments: after 15 s of silence and never else. */
import t from 'tap';
import { EventStream } from '../../helpers/clients/event-stream.ts';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { startHere } from '../../helpers/service/service.ts';

t.jobs = 2;

t.test(
  '[4.comment] at an interval of 20 s a comment comes after 15 s, and the message on time',
  async (t) => {
    const service = await startHere(fixtureHost(), { stats: { stream_interval_seconds: 20 } });
    t.teardown(() => service.stop());
    const stream = await EventStream.open(service.port);
    t.teardown(() => stream.close());
    const first = await stream.next();
    const comment = await stream.next(17_000);
    t.equal(comment.text, ':');
    const silence = (comment.atMs - first.atMs) / 1000;
    t.ok(silence >= 14.9 && silence < 16.5, `after ${silence.toFixed(1)} s`);
    const second = await stream.next(6000);
    t.match(second.text, /^data: /);
    const interval = (second.atMs - first.atMs) / 1000;
    t.ok(interval >= 19.9 && interval < 20.5, `after ${interval.toFixed(1)} s`);
  },
);

t.test('[4.no-comment] at an interval below 15 s there is none', async (t) => {
  const service = await startHere(fixtureHost(), { stats: { stream_interval_seconds: 9 } });
  t.teardown(() => service.stop());
  const stream = await EventStream.open(service.port);
  t.teardown(() => stream.close());
  for (let i = 0; i < 3; i++) t.match((await stream.next(10_000)).text, /^data: /);
});
