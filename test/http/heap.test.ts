/** Memory is returned to the system after a crowd has gone: on a clock of the test's. */
import t from 'tap';
import { HeapTrim, SCRIPT_HEAP } from '#src/http/connections/heap.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';

const MIB = 2 ** 20;

t.test(
  '[2.trimmed] memory that has grown is returned within a minute, and looked at no longer',
  async (t) => {
    const clock = new FakeClock();
    let rss = 50 * MIB;
    const trims: number[] = [];
    let failure: Error | undefined;
    const heap = new HeapTrim({
      clock,
      rss: () => rss,
      host: {
        async trimHeap() {
          if (failure !== undefined) throw failure;
          trims.push(clock.now());
          rss -= 20 * MIB;
        },
      },
      scriptHeap: { bytes: () => MIB, collect: () => Number(t.fail('nothing to collect')) },
    });
    heap.start();
    t.equal(clock.timers, 0, 'nothing without a connection');
    heap.trimSoon();
    await clock.advance(20_000);
    t.same(trims, [], 'nothing to return');
    rss = 90 * MIB;
    failure = new Error('no thread is left');
    await clock.advance(5000);
    failure = undefined;
    await clock.advance(5000);
    t.equal(trims.length, 1, 'what failed is tried again');
    await clock.advance(5000);
    t.equal(trims.length, 2, 'again, because more may be free by now');
    await clock.advance(120_000);
    t.equal(trims.length, 2, 'until it is as at rest');
    t.equal(clock.timers, 0, 'a minute after the last connection');
    rss = 300 * MIB;
    heap.trimSoon();
    heap.stop();
    await clock.advance(120_000);
    t.equal(trims.length, 2);
  },
);

t.test('[2.trimmed] a heap of V8 that has grown is collected, once where it is in use', async (t) => {
  const clock = new FakeClock();
  let bytes = 10 * MIB;
  let inUse = 10 * MIB;
  const collections: number[] = [];
  const heap = new HeapTrim({
    clock,
    rss: () => 50 * MIB,
    host: { trimHeap: async () => {} },
    scriptHeap: {
      bytes: () => bytes,
      collect() {
        collections.push(clock.now());
        bytes = inUse;
        return inUse;
      },
    },
  });
  heap.start();
  bytes = 22 * MIB;
  heap.trimSoon();
  await clock.advance(120_000);
  t.strictSame(collections, [], 'little');
  bytes = 60 * MIB;
  heap.trimSoon();
  await clock.advance(5000);
  t.equal(collections.length, 1);
  bytes = 60 * MIB;
  await clock.advance(25_000);
  t.equal(collections.length, 1, 'not again within 30 s, however fast it grows');
  inUse = 55 * MIB;
  await clock.advance(10_000);
  t.equal(collections.length, 2);
  for (let minute = 0; minute < 10; minute++) {
    heap.trimSoon();
    await clock.advance(60_000);
  }
  t.equal(collections.length, 2, 'what is in use is no reason to collect again');
});

t.test('[2.trimmed] V8 returns what is garbage', async (t) => {
  let garbage: unknown[] | undefined = Array.from({ length: 400_000 }, (_, i) => ({ i, list: [i] }));
  const grown = SCRIPT_HEAP.bytes();
  t.ok(garbage.length > 0);
  garbage = undefined;
  SCRIPT_HEAP.collect();
  // Pages are returned by a thread of V8's.
  await until(() => SCRIPT_HEAP.bytes() <= grown - 8 * MIB);
  t.pass(`${grown} bytes, ${SCRIPT_HEAP.bytes()} after it`);
});
