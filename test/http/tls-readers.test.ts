/** Slow readers over TLS: events of any size arrive whole, and the newest one always does. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { makePairFiles } from '../helpers/certificates.ts';
import { EventStream, payloadOf, type StreamEvent } from '../helpers/clients/event-stream.ts';
import { RawConnection } from '../helpers/clients/http.ts';
import { serveStreams } from '../helpers/service/stream-server.ts';

const EVENTS = 120;

for (const eventBytes of [16_300, 60_000])
  t.test(`[8.tls-readers] events of ${eventBytes} bytes`, async (t) => {
    const options = { address: '127.0.0.1', eventBytes, tickMs: undefined };
    const { port, publish } = await serveStreams(t, { ...options, pair: await makePairFiles(t) });
    const open = async () => {
      const stream = await EventStream.over(await RawConnection.openSecure(port));
      t.teardown(() => stream.close());
      return stream;
    };
    const [fast, slow] = await Promise.all([open(), open()]);
    const numberOf = (event: StreamEvent) => Number(payloadOf(event)['timestamp']);
    for (let i = 1; i <= EVENTS; i++) {
      // It reads a little now and then, so that it drains in the middle of an event; often enough not to be cut.
      if (i % 8 === 0) slow.connection.resume();
      publish();
      await sleep(2);
      slow.connection.pause();
    }
    slow.connection.resume();
    for (const [name, stream] of Object.entries({ fast, slow }))
      for (let count = 0; ; count = stream.count()) {
        const newest = stream.events[count - 1];
        if (newest && numberOf(newest) === EVENTS) break;
        if (stream.connection.isClosed) throw new Error(`the ${name} reader was cut after ${count} events`);
        await sleep(5);
      }
    const got = slow.events.map(numberOf);
    t.strictSame(
      got,
      [...got].sort((a, b) => a - b),
      'in order',
    );
    t.equal(new Set(got).size, got.length, 'none twice');
    t.equal(slow.partial, '', 'and none in part');
    t.comment(`${got.length} of ${EVENTS} events for the slow reader, ${fast.events.length} for the other`);
  });
