/**
 * Streams whose peers stall or vanish, over real sockets, with the limit of 30 s scaled down to 2 s: a peer that stalls
 * for less is never cut, however often; one that takes nothing for longer, once it is full, is cut in time.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import t, { type Test } from 'tap';
import { Sink } from '../../../bench/fanout-subjects.ts';
import { layCable, reasonAgainstCable } from '../../helpers/clients/network-namespace.ts';
import { serveStreams } from '../../helpers/service/stream-server.ts';

const LIMIT_MS = 2000;
const TICK_MS = 50;
const READERS = 8;
const SMALL_BUFFER = 4096;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Events of 12 KB, twenty per second. */
const serve = (t: Test, address: string) =>
  serveStreams(t, {
    address,
    eventBytes: 12_000,
    tickMs: TICK_MS,
    stallLimitSeconds: LIMIT_MS / 1000,
  });

function openReader(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1');
  const reader = { socket, bytes: 0, isClosed: false };
  socket.write('GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.on('data', (part) => {
    reader.bytes += part.length;
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    reader.isClosed = true;
  });
  t.teardown(() => socket.destroy());
  return reader;
}

/** Waits until `isDone`; resolves with the milliseconds it took, infinity when longer than `limitMs`. */
async function msUntil(isDone: () => boolean, limitMs: number): Promise<number> {
  const startedAt = performance.now();
  while (!isDone() && performance.now() - startedAt < limitMs) await sleep(10);
  return isDone() ? performance.now() - startedAt : Number.POSITIVE_INFINITY;
}

t.setTimeout(280_000);

const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
const needsGcc = !hasGcc && 'needs gcc for the sink';

t.test('[4.stalled-again] readers that stall again and again', { skip: needsGcc }, async (t) => {
  const { port, server } = await serve(t, '127.0.0.1');
  // A small window never opens wide: to the kernel's timer all of their stalls are one.
  const sink = new Sink(port, '/api/stream', SMALL_BUFFER);
  t.teardown(() => sink.stop());
  await sink.open(READERS);
  const whole = { open: READERS, torn: 0, doubled: 0, lost: 0, ended: 0 };
  for (let stall = 0; stall < 4; stall++) {
    await sink.stall(READERS);
    t.match(await sink.window((0.75 * LIMIT_MS) / 1000), whole);
    await sink.stall(0);
    const after = await sink.window(0.5);
    t.match(after, whole, `stall ${stall + 1} was for less than the limit`);
    t.ok(after.fewest > 0, 'they go on');
  }
  t.equal(server.connections, READERS);
});

t.test('[4.stalled] a reader that stalls for good is cut in time, the others are not', async (t) => {
  const { port, server, streams } = await serve(t, '127.0.0.1');
  const healthy = openReader(t, port);
  const stalled = Array.from({ length: READERS }, () => openReader(t, port));
  await sleep(300);
  for (const { socket } of stalled) socket.pause();
  const stalledAt = performance.now();
  // Bytes that fit into the buffers are still acknowledged; after that nothing is.
  t.ok(Number.isFinite(await msUntil(() => server.connections <= READERS, 20_000)));
  t.ok(
    performance.now() - stalledAt >= LIMIT_MS,
    `the first after ${Math.round(performance.now() - stalledAt)} ms`,
  );
  t.ok((await msUntil(() => server.connections === 1, 3000)) < 3000, 'then all of them');
  t.equal(streams.size, 1);
  t.equal(healthy.isClosed, false);
  for (const { socket } of stalled) socket.resume();
  t.ok(
    Number.isFinite(await msUntil(() => stalled.every(({ isClosed }) => isClosed), 1000)),
    'they are notified',
  );
});

/** Number of connections in the kernel that no process holds any more. */
const orphans = () => Number(/^TCP:.* orphan (\d+) /m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1]);

const reason =
  reasonAgainstCable() || (spawnSync('gcc', ['--version']).status !== 0 && 'needs gcc for the sink');

t.test('[4.stalled] peers that vanish without a word are gone in time', { skip: reason }, async (t) => {
  const cable = layCable(t);
  const { port, server, streams } = await serve(t, cable.address);
  const sink = new Sink(port, '/api/stream', 0, cable);
  t.teardown(() => sink.stop());
  await sink.open(20);
  // Runs until the end of the test stops it.
  void sink.window(60).catch(() => undefined);
  await sleep(500);
  t.equal(streams.size, 20);
  const orphansBefore = orphans();
  cable.cut();
  const cutAt = performance.now();
  t.ok(Number.isFinite(await msUntil(() => server.connections < 20, 20_000)));
  const first = performance.now() - cutAt;
  t.ok(Number.isFinite(await msUntil(() => server.connections === 0, 5000)));
  const last = performance.now() - cutAt;
  t.ok(
    first >= LIMIT_MS - TICK_MS && last <= LIMIT_MS + 1500,
    `after ${first.toFixed(0)} to ${last.toFixed(0)} ms`,
  );
  await sleep(500);
  t.ok(orphans() <= orphansBefore, 'and none of them stays in the kernel');
});
