/** Readers that pause for longer than the 10 s of uWebSockets.js's own timer are not cut, and continue. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makePairFiles } from '../helpers/certificates.ts';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { RawConnection } from '../helpers/clients/http.ts';
import { serveStreams } from '../helpers/service/stream-server.ts';

/** uSockets rounds 10 s up to 14 s. */
const PAUSE_MS = 18_000;
const PAUSES = 2;
/** 60 MB: more than the buffers of both ends may take, 4 and 32 MiB since Linux 6.17. */
const EVENTS = 1000;

t.setTimeout(280_000);

async function pauseAgainAndAgain(t: Test, isSecure: boolean): Promise<void> {
  const name = isSecure ? 'over TLS' : 'plain';
  const { port, publish } = await serveStreams(t, {
    address: '127.0.0.1',
    eventBytes: 60_000,
    tickMs: undefined,
    // Of a slow machine the events before a pause take long, too.
    stallLimitSeconds: 240,
    ...(isSecure && { pair: await makePairFiles(t) }),
  });
  const connection = await (isSecure ? RawConnection.openSecure(port) : RawConnection.open(port));
  const stream = await EventStream.over(connection);
  t.teardown(() => stream.close());
  let published = 0;
  const newest = () => {
    const event = stream.events[stream.count() - 1];
    return event && Number(payloadOf(event)['timestamp']);
  };
  for (let pause = 0; pause < PAUSES; pause++) {
    connection.pause();
    for (let i = 0; i < EVENTS; i++) {
      publish();
      published++;
      await sleep(2);
    }
    await sleep(PAUSE_MS);
    const before = stream.count();
    connection.resume();
    while (newest() !== published) {
      if (connection.isClosed) throw new Error(`${name}: cut after ${stream.count()} events`);
      await sleep(5);
    }
    t.ok(stream.count() - before < EVENTS, `${name}: it was full, and samples were skipped`);
    t.equal(stream.partial, '', `${name}: the newest event is whole`);
  }
}

t.test('[4.stalled] readers that pause for 18 s are not cut, and continue', async (t) => {
  await Promise.all([false, true].map((isSecure) => pauseAgainAndAgain(t, isSecure)));
});
