/** Readers that stop reading: under 20 s they are never cut, for good they are gone in 90 s; the others notice nothing. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { Sink } from '../../bench/fanout-subjects.ts';
import { type ServiceProcess, startService } from '../helpers/service.ts';

const READERS = 300;
const STALLED = 100;
/** Detail makes events long enough to fill the sockets within seconds. */
const TARGET = '/api/stream?detail=1';
const SMALL_BUFFER = 4096;

t.setTimeout(300_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;

t.test('[4.stalled] stalled readers', { skip: !hasGcc && 'needs gcc for the sink' }, async (t) => {
  const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
  const sink = new Sink(service.port, TARGET, SMALL_BUFFER);
  t.teardown(async () => {
    await sink.stop();
    await service.stop();
  });
  await sink.open(READERS);
  await sink.stall(STALLED);
  const during = await sink.window(17);
  t.match(during, { open: READERS, torn: 0, doubled: 0, lost: 0 }, 'none is cut in 17 s');
  t.ok(during.fewest >= 16 && during.most <= 18, `the others got ${during.fewest} to ${during.most}`);
  await sink.stall(0);
  const after = await sink.window(14);
  t.match(after, { open: READERS, torn: 0, doubled: 0, lost: 0 }, 'nor in the 14 s after they read again');
  t.ok(after.fewest >= 12, `each got at least ${after.fewest}`);
  await checkEnd(t, service, sink);
});

/** Readers that have not stalled before: the kernel counts an earlier stall in, which docs/contract.md says. */
async function checkEnd(
  t: Pick<typeof import('tap').default, 'ok' | 'match' | 'fail' | 'comment' | 'teardown'>,
  service: ServiceProcess,
  healthy: Sink,
): Promise<void> {
  const stalling = new Sink(service.port, TARGET, SMALL_BUFFER);
  t.teardown(() => stalling.stop());
  await stalling.open(STALLED);
  await stalling.window(3);
  await stalling.stall(STALLED);
  // The kernel tells a reader without a window nothing: only the service's side knows that it is gone.
  const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
  const before = descriptors();
  let waited = 0;
  while (descriptors() > before - STALLED && waited < 90) {
    const window = await healthy.window(5);
    waited += 5;
    t.match(window, { open: READERS, torn: 0, doubled: 0, lost: 0 });
    if (window.fewest < 4) t.fail(`a reader got ${window.fewest} in 5 s`);
  }
  t.comment(`figure: readers that stalled for good were gone after ${waited} s`);
  t.ok(descriptors() <= before - STALLED, 'the stalled are gone within 90 s');
  t.ok(waited >= 20, 'and not before 20 s');
}
