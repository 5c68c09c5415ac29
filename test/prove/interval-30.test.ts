/** A stream with an interval of 30 s is still open after three minutes and has carried every message. */
import t from 'tap';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { serveProgram } from '../helpers/service/service.ts';

t.setTimeout(240_000);

t.test(
  '[4.long] every message on time for more than three minutes, comments in between only',
  { timeout: 240_000 },
  async (t) => {
    const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 30 } } });
    const stream = await EventStream.openIn(t, service.port);
    const messages: number[] = [];
    while (messages.length < 7) {
      const event = await stream.next(31_000);
      payloadOf(event);
      messages.push(event.atMs);
    }
    const [first = 0] = messages;
    messages.forEach((at, i) => {
      const late = (at - first) / 1000 - 30 * i;
      t.ok(Math.abs(late) < 1, `message ${i + 1} after ${((at - first) / 1000).toFixed(2)} s`);
    });
    t.ok((messages.at(-1) ?? 0) - first >= 179_000);
    const { arrivals } = stream.connection;
    arrivals.slice(1).forEach(({ atMs }, i) => {
      const silentMs = atMs - (arrivals[i]?.atMs ?? 0);
      t.ok(silentMs < 16_500, `silent for ${(silentMs / 1000).toFixed(1)} s`);
    });
    t.notOk(stream.isEnded || stream.connection.isClosed, 'and it is still open');
  },
);
