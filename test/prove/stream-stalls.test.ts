/**
 * Readers of the real service stop reading: a stall of less than 20 s never closes them, however often it happens; a
 * permanent one closes them soon after 20 s. The other readers notice nothing.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import t from 'tap';
import { Sink } from '../../bench/fanout-subjects.ts';
import { startService } from '../helpers/service/service.ts';

const READERS = 300;
const STALLED = 100;
/** Detail makes events long enough to fill the sockets within seconds. */
const TARGET = '/api/stream?detail=1';
const SMALL_BUFFER = 4096;

t.setTimeout(300_000);
const hasGcc = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;

t.test(
  '[4.stalled] [4.stalled-again] stalled readers',
  { skip: !hasGcc && 'needs gcc for the sink' },
  async (t) => {
    const service = await startService({ config: { stats: { stream_interval_seconds: 1 } } });
    const sink = new Sink(service.port, TARGET, SMALL_BUFFER);
    t.teardown(async () => {
      await sink.stop();
      await service.stop();
    });
    const whole = { open: READERS, torn: 0, doubled: 0, lost: 0 };
    await sink.open(READERS);
    for (const [stallSeconds, pauseSeconds] of [
      [17, 14],
      [10, 5],
      [10, 5],
      [10, 5],
      [18, 3],
      [18, 3],
    ] as const) {
      await sink.stall(STALLED);
      const during = await sink.window(stallSeconds);
      t.match(during, whole, `none is cut in ${stallSeconds} s`);
      t.ok(
        during.fewest >= stallSeconds - 1 && during.most <= stallSeconds + 1,
        'the others get their events',
      );
      await sink.stall(0);
      const after = await sink.window(pauseSeconds);
      t.match(after, whole, `nor in the ${pauseSeconds} s after it`);
      t.ok(after.fewest >= pauseSeconds - 2, `each got at least ${after.fewest}`);
    }
    // A reader with a full receive window does not see the close: only the service's side shows that it is gone.
    const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
    const before = descriptors();
    await sink.stall(STALLED);
    const times: { readonly seconds: number; readonly left: number }[] = [];
    const startedAt = performance.now();
    while (descriptors() > before - STALLED && performance.now() - startedAt < 60_000) {
      // Twice the interval: in a window as long as the interval, an event that is some milliseconds late leaves none.
      const window = await sink.window(2);
      t.match(window, { torn: 0, doubled: 0 });
      if (window.fewest < 1 || window.most > 3) t.fail(`the others got ${window.fewest} to ${window.most}`);
      times.push({ seconds: (performance.now() - startedAt) / 1000, left: descriptors() - before + STALLED });
    }
    const first = times.find(({ left }) => left < STALLED)?.seconds ?? 0;
    const last = times.at(-1);
    t.comment(
      `figure: readers that stall for good are gone after ${first.toFixed(0)} to ${last?.seconds.toFixed(0)} s`,
    );
    t.equal(last?.left, 0);
    t.ok(first >= 20 && (last?.seconds ?? 99) <= 35, 'not before 20 s, and soon after');
  },
);
