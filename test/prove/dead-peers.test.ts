/** A thousand peers of the real service vanish together without closing. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { Sink } from '../../bench/fanout-subjects.ts';
import { layCable, reasonAgainstCable } from '../helpers/clients/network-namespace.ts';
import { startService } from '../helpers/service/service.ts';

const PEERS = 1000;

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
  void sink.window(250).catch(() => undefined);
  await sleep(7000);
  const orphansBefore = orphans();
  // The service's other descriptors.
  const before = descriptors() - PEERS;
  cable.cut();
  const cutAt = performance.now();
  const seconds = () => (performance.now() - cutAt) / 1000;
  let first: number | undefined;
  for (let left = PEERS; left > 0 && seconds() < 200; left = descriptors() - before) {
    if (left < PEERS) first ??= seconds();
    await sleep(100);
  }
  const last = seconds();
  // All of them may be cut between two readings.
  first ??= last;
  t.comment(`figure: ${PEERS} peers that vanish are gone after ${first.toFixed(1)} to ${last.toFixed(1)} s`);
  // Their events fill the kernel's buffers first; 30 s later each is cut.
  t.ok(first >= 30 && last <= 180, 'not before 30 s, all within 3 min');
  await sleep(500);
  t.ok(orphans() <= orphansBefore, 'and none of them stays in the kernel');
});
