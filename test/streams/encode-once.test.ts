/** Each sample of a running service is encoded once per view, however many subscribe: counted over real sockets. */
import t from 'tap';
import { Encoded } from '#src/stats/view.js';
import { EventStream } from '../helpers/clients/event-stream.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { startHere } from '../helpers/service/service.ts';

const TARGETS = ['/api/stream', '/api/stream?fields=cpu', '/api/stream?detail=1'];
const EACH = 50;
const TICKS = 3;

t.test('[4.encode-once] three views, 150 subscribers: three encodings per tick', async (t) => {
  /** The samples whose events the service requests. */
  const asked = new Set<Encoded>();
  const { event } = Encoded.prototype;
  Encoded.prototype.event = function counted(view) {
    asked.add(this);
    return event.call(this, view);
  };
  t.teardown(() => {
    Encoded.prototype.event = event;
  });
  const service = await startHere(fixtureHost(), { stats: { stream_interval_seconds: 1 } });
  t.teardown(() => service.stop());
  const streams = await Promise.all(
    TARGETS.flatMap((target) => Array.from({ length: EACH }, () => EventStream.open(service.port, target))),
  );
  t.teardown(() => {
    for (const stream of streams) stream.close();
  });
  // The first message, and perhaps the tick that came while they joined.
  await Promise.all(streams.map((stream) => stream.next()));
  await Promise.all(streams.map((stream) => stream.next()));
  asked.clear();
  for (let tick = 0; tick < TICKS; tick++) await Promise.all(streams.map((stream) => stream.next()));
  t.ok(asked.size >= TICKS, `${asked.size} ticks`);
  for (const encoded of asked) t.equal(encoded.encodes, TARGETS.length, 'encoded once a view');
});
