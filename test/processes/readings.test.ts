/** When processes are read: for samples at a pace of their own, for lists on request. */
import t from 'tap';
import type { Defer } from '#src/clock.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { ProcessColumns, ProcessHost } from '#src/host/processes.js';
import { ProcessReadings } from '#src/processes/readings.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { processColumns } from '../helpers/fakes/process-columns.ts';

/** Equal processes, of which the first uses the processor. */
const rowsAt = (cpu: number, count: number) =>
  Array.from({ length: count }, (_, row) => ({ pid: row + 1, cpu: row === 0 ? cpu : 0, memory: 1 }));

/** A host whose readings for samples take `spentMs` of CPU time; every other one begins `lateMs` late. */
function readingHost(clock: FakeClock, spentMs = 1, lateMs = 0, processes = 1) {
  let latest: ProcessColumns | null = null;
  let timer: unknown;
  const begunAtMs: number[] = [];
  const withDisks: boolean[] = [];
  const columns = () =>
    processColumns(clock.sinceBoot() / 1000, rowsAt(clock.now() / 10, processes), {
      takenAtNs: clock.now() * 1e6,
      machineTicks: clock.now() / 5,
      spentNs: spentMs * 1e6,
    });
  const host: Pick<ProcessHost, 'latest' | 'ask' | 'read'> = {
    latest: () => latest,
    ask(inMs) {
      clock.clearTimer(timer);
      timer = clock.setTimer(
        () => {
          begunAtMs.push(clock.now());
          latest = columns();
        },
        inMs + lateMs * (begunAtMs.length % 2),
      );
    },
    async read(hasDisks = false) {
      withDisks.push(hasDisks);
      return { ...columns(), ...(hasDisks ? {} : { readBytes: null, writeBytes: null }) };
    },
  };
  // Only these are asked for readings.
  return { host: host as ProcessHost, begunAtMs, withDisks, reads: () => withDisks.length };
}

function setUp(
  spentMs?: number,
  lateMs?: number,
  config = new FakeConfig(),
  processes?: number,
  defer?: Defer,
) {
  const clock = new FakeClock();
  const made = readingHost(clock, spentMs, lateMs, processes);
  const readings = new ProcessReadings({ host: made.host, clock, config, ...(defer && { defer }) });
  const now = () => ({ sinceBootNs: clock.sinceBoot() * 1e6 });
  /** Does the work of a tick, and advances the clock until the next one. */
  const tick = async (intervalMs: number, lateMs = 0) => {
    const summary = readings.summary(now(), intervalMs);
    readings.ask(now(), intervalMs - lateMs, intervalMs);
    await clock.advance(intervalMs - lateMs);
    return summary;
  };
  /** Does the work of a request with detail. */
  const poll = async (waitMs: number, intervalMs: number) => {
    readings.ask(now(), waitMs, intervalMs);
    await clock.advance(waitMs);
    return readings.summary(now(), intervalMs);
  };
  return { ...made, clock, now, readings, tick, poll };
}

t.test('[3.detail-processes] one reading per tick, 250 ms before it, while that is cheap', async (t) => {
  const { clock, begunAtMs, tick } = setUp();
  t.equal(await tick(1000), null, 'a sample waits for none');
  t.match(await tick(1000), { top_cpu: null, age_seconds: 0.3 });
  for (let i = 0; i < 20; i++) {
    // Ticks keep their deadlines: one that is late is followed by a shorter interval.
    const lateMs = 15 * (i % 2);
    await clock.advance(lateMs);
    const summary = await tick(1000, lateMs);
    t.match(summary, { top_cpu: [{ cpu: 50 }], age_seconds: 0.3 });
  }
  t.strictSame(
    begunAtMs,
    Array.from({ length: 22 }, (_, i) => 1750 + 1000 * i),
  );
});

t.test('[3.detail-processes] no tick goes without where a reading or a tick is a little late', async (t) => {
  const late = setUp(1, 40);
  while (late.clock.now() < 11_000) await late.tick(1000);
  t.equal(late.begunAtMs.length, 10, 'a thread that begins late');
  const slow = setUp();
  for (let i = 0; i < 10; i++) {
    // The time until the next tick was computed some milliseconds before the counters were read.
    const readMs = 5 * ((i + 1) % 2);
    await slow.clock.advance(readMs);
    slow.readings.ask(slow.now(), 1000, 1000);
    await slow.clock.advance(1000 - readMs);
  }
  t.equal(slow.begunAtMs.length, 10, 'a reading that takes a while');
});

t.test('[3.detail-processes] a shorter interval takes effect at its next tick', async (t) => {
  const { clock, readings, now, begunAtMs, tick } = setUp();
  await tick(1000);
  readings.ask(now(), 10_000, 10_000);
  await clock.advance(1000);
  await tick(1000);
  t.strictSame(begunAtMs, [1750, 3750], 'instead of the one in ten seconds');
});

t.test('[3.processes-pace] readings for a stream take 1 % of a processor at most', async (t) => {
  for (const [spentMs, intervalMs] of [
    [11, 1000],
    [100, 1000],
    [40, 500],
    [7, 250],
    [110, 1000],
    [300, 20_000],
  ] as const) {
    const { clock, begunAtMs, tick } = setUp(spentMs);
    while (clock.now() < 300_000) {
      const summary = await tick(intervalMs);
      if (clock.now() > 150_000)
        t.match(summary, { top_cpu: [{ cpu: 50 }] }, 'it is shown until the next one');
    }
    // The first one has no cost to go by.
    const apartMs = begunAtMs.slice(2).map((atMs, i) => atMs - (begunAtMs[i + 1] ?? 0));
    t.ok(Math.min(...apartMs) >= 100 * spentMs, `${spentMs} ms: every ${Math.min(...apartMs)} ms at most`);
    t.ok(Math.max(...apartMs) <= Math.max(100 * spentMs + 2 * intervalMs, intervalMs), 'and no less often');
  }
});

t.test('[3.processes-pace] the sample says how old they are; shares are over the whole time', async (t) => {
  const { tick } = setUp(100);
  const ages: number[] = [];
  for (let i = 0; i < 33; i++) {
    const summary = await tick(1000);
    if (!summary) continue;
    ages.push(summary.age_seconds);
    if (i > 12) t.match(summary.top_cpu, [{ cpu: 50 }]);
  }
  t.strictSame(ages.slice(0, 11), [0.3, 1.3, 2.3, 3.3, 4.3, 5.3, 6.3, 7.3, 8.3, 9.3, 0.3]);
});

t.test('[3.processes-pace] requests share one reading per interval, also beside a stream', async (t) => {
  const alone = setUp();
  for (let i = 0; i < 100; i++) {
    const summary = await alone.poll(25, 2000);
    t.ok(summary === null ? i === 0 : (summary?.age_seconds ?? 9) <= 2);
    await alone.clock.advance(75);
  }
  t.equal(alone.begunAtMs.length, 5, 'in ten seconds');

  const beside = setUp();
  for (let i = 0; i < 10; i++) {
    const ticking = beside.tick(2000);
    for (let j = 0; j < 15; j++) await beside.poll(25, 2000);
    await ticking;
  }
  const apart = beside.begunAtMs.slice(1).map((atMs, i) => atMs - (beside.begunAtMs[i] ?? 0));
  t.ok(Math.min(...apart) >= 1980, `${apart}`);
});

t.test('[3.processes-pace] requests between rare ticks get processes of ten seconds at most', async (t) => {
  const { clock, begunAtMs, poll } = setUp();
  for (let i = 0; i < 60; i++) {
    t.ok(((await poll(200, 60_000))?.age_seconds ?? 0) <= 10.2);
    await clock.advance(800);
  }
  t.equal(begunAtMs.length, 6);
});

t.test('[3.processes-pace] after a pause or a sleep none is shown that is old', async (t) => {
  const { clock, begunAtMs, now, readings, poll } = setUp(10);
  await poll(200, 1000);
  await clock.advance(60_000);
  t.match(await poll(200, 1000), { age_seconds: 0.2 });
  clock.suspend(3600_000);
  t.match(await poll(200, 1000), { age_seconds: 0.2 }, 'nor is one from before it recent enough');
  t.equal(begunAtMs.length, 3);
  clock.suspend(3600_000);
  t.equal(readings.summary(now(), 1000), null);
});

t.test('[3.detail-processes] none is read or shown while the feature is off', async (t) => {
  const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_processes: false });
  const { begunAtMs, tick } = setUp(1, 0, config);
  t.equal(await tick(1000), undefined);
  t.strictSame(begunAtMs, []);
});

t.test(
  '[7.process-readings] a list asked for between the first two readings waits for the second',
  async (t) => {
    const { clock, readings, reads } = setUp();
    const first = readings.window();
    await clock.advance(100);
    const second = readings.window();
    await clock.advance(200);
    t.equal(await second, await first);
    t.not((await second).before, undefined, 'it has shares');
    t.equal(reads(), 2);
  },
);

t.test('[3.usage-resume] a list from before a sleep is not handed out after it', async (t) => {
  const { clock, readings, reads } = setUp();
  const take = async () => {
    const pending = readings.window();
    await clock.advance(300);
    return await pending;
  };
  const before = await take();
  t.equal(await take(), before, 'it is young');
  clock.suspend(60_000);
  const count = reads();
  t.not(await take(), before);
  t.ok(reads() > count);
});

t.test(
  '[7.process-readings] a list takes two readings at first, then one, and none within a second',
  async (t) => {
    const { clock, readings, reads } = setUp();
    const take = async () => {
      const pending = [readings.window(), readings.window()];
      await clock.advance(300);
      return (await Promise.all(pending))[0];
    };
    const first = await take();
    t.equal(reads(), 2, 'both who ask share them');
    t.equal(first?.before && first.after.takenAtNs - first.before.takenAtNs, 2e8);
    await take();
    t.equal(reads(), 2, 'young enough');
    await clock.advance(2000);
    t.not((await take())?.before, undefined);
    t.equal(reads(), 3);
    await clock.advance(60_000);
    const later = await take();
    t.equal(reads(), 5, 'the window begins anew');
    t.equal(later?.before && later.after.takenAtNs - later.before.takenAtNs, 2e8);
  },
);

t.test('[7.process-disks] lists with disk I/O compare readings that have it, for 10 s', async (t) => {
  const { clock, readings, withDisks } = setUp();
  const take = async (hasDisks: boolean) => {
    await clock.advance(1000);
    const pending = readings.window(hasDisks);
    await clock.advance(300);
    t.equal((await pending).before?.readBytes === null, withDisks.at(-1) === false);
    return withDisks.splice(0);
  };
  t.strictSame(await take(false), [false, false]);
  t.strictSame(await take(false), [false]);
  t.strictSame(await take(true), [true, true], 'the earlier readings are dropped');
  t.strictSame(await take(false), [true], 'so that the next one can compare');
  t.strictSame(await take(true), [true]);
  await clock.advance(10_000);
  t.strictSame(await take(false), [false, false], 'no longer wanted');
});

t.test(
  '[3.detail-processes] with thousands of processes the last summary is shown until the next is derived',
  async (t) => {
    const deferred: (() => void)[] = [];
    const defer: Defer = (slice) => deferred.push(slice);
    const { clock, readings, now, tick } = setUp(1, 0, new FakeConfig(), 5000, defer);
    t.equal(await tick(1000), null);
    t.match(
      await tick(1000),
      { count: 5000, top_cpu: null, age_seconds: 0.3 },
      'there is none to show instead',
    );
    t.equal(deferred.length, 0);
    t.match(await tick(1000), { top_cpu: null, age_seconds: 1.3 }, 'the last one, with its age');
    t.match(await tick(1000), { top_cpu: null, age_seconds: 2.3 });
    t.equal(deferred.length, 1, 'asked for once');
    deferred.pop()?.();
    t.match(readings.summary(now(), 1000), { top_cpu: [{ cpu: 50 }], age_seconds: 1.3 });
    deferred.pop()?.();
    t.match(readings.summary(now(), 1000), { age_seconds: 0.3 });
    await clock.advance(60_000);
    t.equal(readings.summary(now(), 1000), null, 'an old one is not shown');
  },
);
