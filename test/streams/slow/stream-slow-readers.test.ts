/** Readers that stall and recover, over real sockets: they get whole events, byte for byte, and the newest. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import '../../helpers/service/dead-buses.ts';
import { deferToNextTurn, systemClock } from '#src/clock.js';
import { Quota } from '#src/fairness/quota.js';
import { openNativeHost } from '#src/host/native.js';
import { ViewerCounts } from '#src/http/clients/viewer-counts.js';
import { viewOf } from '#src/stats/view.js';
import { EngineFanout } from '#src/streams/engine-fanout.js';
import { parseChunk } from '../../helpers/clients/http.ts';
import { encodedOf } from '../../helpers/fakes/encoded.ts';
import { callerAt } from '../../helpers/fakes/sender.ts';
import { createEngine } from '../../helpers/service/engine.ts';
import { until } from '../../helpers/until.ts';

const DETAIL = viewOf(0, true);
const KIB = 1024;
const EVENTS = 300;

interface Reader {
  readonly socket: net.Socket;
  readonly parts: Buffer[];
  stalls: number;
}

/** A client that reads, then does not read for a while, and so on until `calm`. */
function openReader(port: number, stallMs: number): Reader {
  const socket = net.connect(port, '127.0.0.1');
  const reader: Reader = { socket, parts: [], stalls: 0 };
  socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.on('error', () => undefined);
  socket.on('data', (part) => {
    reader.parts.push(part);
    if (stallMs === 0 || Math.random() > 0.15) return;
    reader.stalls++;
    socket.pause();
    setTimeout(() => socket.resume(), stallMs * Math.random());
  });
  return reader;
}

/** The events in complete chunks, without the comments, and each with its blank line; throws where a chunk is torn. */
function eventsOf({ parts }: Reader): readonly string[] {
  const bytes = Buffer.concat(parts);
  let text = '';
  for (
    let chunk = parseChunk(bytes, bytes.indexOf('\r\n\r\n') + 4);
    chunk !== undefined && chunk.data.length > 0;
  ) {
    text += chunk.data.toString();
    chunk = parseChunk(bytes, chunk.end);
  }
  return text.split(/(?<=\n\n)/).filter((event) => event !== ':\n\n');
}

for (const bytes of [1 * KIB, 12 * KIB, 16 * KIB - 200, 16 * KIB, 20 * KIB, 64 * KIB])
  t.test(`[4.slow-skips] [4.slow-drained] events of ${bytes} bytes`, async (t) => {
    const clock = systemClock(() => performance.now());
    const events = { sent: 0, skipped: 0 };
    const fanout = new EngineFanout(
      {
        clock,
        defer: deferToNextTurn,
        quota: new Quota(),
        events,
        stallLimitSeconds: Number.POSITIVE_INFINITY,
      },
      new ViewerCounts(),
    );
    let newest = encodedOf(0, bytes, '0/');
    const server = await createEngine({
      headersRead: new Set(),
      onRequest: (exchange) =>
        fanout.open({
          exchange,
          headers: [],
          event: newest.event(DETAIL),
          caller: callerAt('127.0.0.1'),
          skipsNext: false,
        }),
    });
    const port = await server.listen('127.0.0.1', 0);
    // As in the service: without it megabytes go into the kernel before a reader counts as full.
    openNativeHost().tuneListener(port, { notSentLowWaterBytes: 16 * KIB });
    const readers = [0, 0, 30, 30, 30, 200, 200, 1000, 1000, 1000].map((stallMs) =>
      openReader(port, stallMs),
    );
    await until(() => fanout.size === readers.length);
    for (let number = 1; number <= EVENTS; number++) {
      newest = encodedOf(number, bytes, `${number}/`);
      fanout.publish({ bytes: newest.event(DETAIL) });
      if (number % 20 === 0) fanout.sweep();
      await sleep(4);
    }
    for (const { socket } of readers) socket.removeAllListeners('data').resume();
    for (const reader of readers) reader.socket.on('data', (part) => reader.parts.push(part));
    const last = newest.event(DETAIL).toString();
    await until(
      () => readers.every((reader) => eventsOf(reader).at(-1) === last),
      'everybody gets the newest',
    );
    await sleep(100);
    fanout.close();
    await sleep(100);
    server.close();
    let skipped = 0;
    for (const reader of readers) {
      const events = eventsOf(reader);
      let before = -1;
      for (const event of events) {
        const number = Number(/^data: \{"timestamp":(\d+)/.exec(event)?.[1]);
        if (!(number > before)) t.fail(`${number} after ${before}`);
        if (event !== encodedOf(number, bytes, `${number}/`).event(DETAIL).toString())
          t.fail(`${number} is torn`);
        skipped += number - before - 1;
        before = number;
      }
    }
    const [first, second] = readers.map((reader) => eventsOf(reader).length);
    t.ok(
      (first ?? 0) > EVENTS * 0.9 && (second ?? 0) > EVENTS * 0.9,
      `a reader misses little: ${first}, ${second}`,
    );
    t.comment(`${readers.reduce((sum, { stalls }) => sum + stalls, 0)} stalls, ${skipped} events skipped`);
    if (bytes >= 12 * KIB) t.ok(skipped > 0, 'sockets were full');
  });
