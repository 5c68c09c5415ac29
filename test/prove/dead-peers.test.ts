/** A thousand peers of the real service vanish together without closing; and the cost of watching peers. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import t from 'tap';
import { Sink } from '../../bench/fanout-subjects.ts';
import { layCable, reasonAgainstCable } from '../helpers/clients/network-namespace.ts';
import { startService } from '../helpers/service/service.ts';
import { serveStreams } from '../helpers/service/stream-server.ts';

const PEERS = 1000;
const STREAMS = 6000;
const PAUSE_SECONDS = 15;

t.setTimeout(300_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
const needsGcc = !hasGcc && 'needs gcc for the sink';
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Number of connections in the kernel that no process holds any more. */
const orphans = () => Number(/^TCP:.* orphan (\d+) /m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1]);

t.test('[4.stalled] a thousand half-open peers', { skip: reasonAgainstCable() || needsGcc }, async (t) => {
  const cable = layCable(t);
  const service = await startService({ host: cable.address });
  const sink = new Sink(service.port, '/api/stream', 0, cable);
  t.teardown(async () => {
    await sink.stop();
    await service.stop();
  });
  const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
  await sink.open(PEERS);
  // Runs until the end of the test stops it.
  void sink.window(120).catch(() => undefined);
  await sleep(7000);
  const orphansBefore = orphans();
  // The service's other descriptors.
  const before = descriptors() - PEERS;
  cable.cut();
  const cutAt = performance.now();
  const seconds = () => (performance.now() - cutAt) / 1000;
  let first: number | undefined;
  for (let left = PEERS; left > 0 && seconds() < 60; left = descriptors() - before) {
    if (left < PEERS) first ??= seconds();
    await sleep(100);
  }
  const last = seconds();
  // All of them may be cut between two readings.
  first ??= last;
  t.comment(`figure: ${PEERS} peers that vanish are gone after ${first.toFixed(1)} to ${last.toFixed(1)} s`);
  t.ok(first >= 20 && last <= 25, 'not before 20 s, all within 25 s');
  await sleep(500);
  t.ok(orphans() <= orphansBefore, 'and none of them stays in the kernel');
});

t.test(`the cost of checking ${STREAMS} streams`, { skip: needsGcc }, async (t) => {
  const { host, port, publish, streams } = await serveStreams(t, {
    address: '127.0.0.1',
    eventBytes: 300,
    tickMs: undefined,
    watch: undefined,
  });
  const sink = new Sink(port);
  t.teardown(() => sink.stop());
  await sink.open(STREAMS);
  t.equal(streams.size, STREAMS);
  // Runs until the end of the test stops it.
  sink.window(60).catch(() => undefined);
  const usOf = async (act: () => Promise<unknown> | undefined, pauseMs: number) => {
    const costs: number[] = [];
    for (let round = 0; round < 10; round++) {
      const begun = process.cpuUsage();
      await act();
      await sleep(pauseMs);
      const { user, system } = process.cpuUsage(begun);
      costs.push(user + system);
    }
    return costs.sort((a, b) => a - b)[5] ?? Number.NaN;
  };
  const event = await usOf(() => {
    publish();
    return undefined;
  }, 700);
  const look = await usOf(() => host.readPendingPeers(port), 50);
  const percent = (100 * look) / PAUSE_SECONDS / event;
  t.comment(
    `figure: checking ${STREAMS} streams takes ${(look / 1000).toFixed(1)} ms of CPU, sending them an event ` +
      `${(event / 1000).toFixed(0)} ms: ${percent.toFixed(2)} % at one event per second`,
  );
  t.ok(percent < 1, `${percent.toFixed(2)} %`);
});
