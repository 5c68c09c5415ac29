/** When all connections are looked at, and what follows from it: on a clock of the test's, without sockets. */
import t from 'tap';
import type { OpenConnections } from '#src/host/host.js';
import { BufferQuota } from '#src/http/clients/buffer-quota.js';
import { ConnectionLimiter } from '#src/http/connections/connection-limiter.js';
import { HeapTrim, SCRIPT_HEAP } from '#src/http/connections/heap.js';
import { createLog } from '#src/log/log.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { until } from '../helpers/until.ts';

const MIB = 2 ** 20;
const NOBODY: OpenConnections = { clients: [], halfClosed: [], unanswered: [] };

function setUp({ max = 100, maxBytes = 64 * MIB, maxInAll = 100_000 } = {}) {
  const clock = new FakeClock();
  const world = {
    clock,
    looks: [] as number[],
    /** Undefined: it cannot be taken. */
    found: NOBODY as OpenConnections | undefined,
    cut: [] as bigint[],
    open: 100_000,
    unfinished: 0,
    rss: 50 * MIB,
    lines: [] as string[],
    trims: 0,
    /** Delays each look until it settles. */
    answer: Promise.resolve(),
  };
  const quota = new BufferQuota({ maxBytes: () => maxBytes, defer: (work) => work() });
  const limiter = new ConnectionLimiter({
    clock,
    quota,
    log: createLog((line) => world.lines.push(line)),
    host: {
      async readConnections(port, { halfClosedMs }) {
        world.looks.push(clock.now());
        await world.answer;
        if (world.found === undefined) throw new Error('no descriptors');
        return port === 80 && halfClosedMs === 2000 ? world.found : NOBODY;
      },
      cutConnections(connections) {
        world.cut.push(...connections.map(({ cookie }) => cookie));
        return connections.length;
      },
    },
    maxPerAddress: () => max,
    maxInAll: () => maxInAll,
    isProxy: (address) => address === '10.9.9.9',
    open: () => world.open,
    unfinished: () => world.unfinished,
    heap: { rss: () => world.rss, trimSoon: () => void world.trims++ },
  });
  limiter.start(80);
  const open = (count: number, address = '10.0.0.1') =>
    Array.from({ length: count }, () => limiter.opened(address)).filter((isAdmitted) => isAdmitted).length;
  return { world, limiter, quota, open };
}

t.test('[1.connections] few connections of an address are never looked at', async (t) => {
  const { world, open } = setUp();
  for (let i = 0; i < 1000; i++) open(40, `10.1.${i >> 8}.${i & 255}`);
  await world.clock.advance(3_600_000);
  t.same(world.looks, []);
  t.equal(world.clock.timers, 0, 'and no timer runs');
});

t.test('[1.connections] connections to all ports of the service are counted', async (t) => {
  const ports: number[] = [];
  const clock = new FakeClock();
  const quota = new BufferQuota({ defer: (work) => work() });
  const limiter = new ConnectionLimiter({
    clock,
    quota,
    log: createLog(() => {}),
    host: {
      async readConnections(port) {
        ports.push(port);
        const connection = { descriptor: port, cookie: BigInt(port) };
        return {
          clients: [{ address: '10.0.0.1', connections: 60 }],
          halfClosed: [connection],
          unanswered: [{ connection, address: '10.0.0.1', bytes: 5000 }],
        };
      },
      cutConnections: (connections) => connections.length,
    },
    maxPerAddress: () => 100,
    isProxy: () => false,
    open: () => 1000,
    unfinished: () => 0,
    heap: undefined,
  });
  limiter.start(80, 443);
  for (let i = 0; i < 60; i++) limiter.opened('10.0.0.1');
  await clock.advance(10);
  t.same(ports, [80, 443]);
  t.equal(limiter.opened('10.0.0.1'), false, '60 on either port');
  t.equal(quota.bytes, 10_000);
});

t.test('[1.connections] many are counted, and those that closed are given back', async (t) => {
  const { world, open } = setUp();
  world.found = { ...NOBODY, clients: [{ address: '10.0.0.1', connections: 3 }] };
  for (let i = 0; i < 50; i++) {
    t.equal(open(40), 40);
    await world.clock.advance(10);
  }
  t.ok(world.looks.length >= 20, `${world.looks.length} looks at 2,000 connections that closed again`);
});

t.test('[1.connections] an address that has too many is refused, another one not', async (t) => {
  const { world, limiter, open } = setUp();
  let real = 0;
  for (let i = 0; i < 20; i++) {
    real += open(10);
    world.found = { ...NOBODY, clients: [{ address: '10.0.0.1', connections: real }] };
    await world.clock.advance(10);
  }
  t.equal(real, 100, 'those that came first are served');
  t.equal(open(10, '10.0.0.2'), 10);
  t.equal(open(500, '10.9.9.9'), 500, 'a trusted proxy is not counted');
  world.found = NOBODY;
  limiter.ended();
  await world.clock.advance(5000);
  t.equal(open(50), 50, 'when they are gone');
});

t.test('[1.connections] connections that have closed since the last look refuse no client', async (t) => {
  const { world, open } = setUp();
  world.open = 100;
  t.equal(open(1000), 1000, 'one after the other, as fast as they can');
  world.open = 101;
  t.equal(open(1), 0);
});

t.test('[1.half-closed] half-closed connections are looked for 2 s later, and cut', async (t) => {
  const { world, limiter } = setUp();
  limiter.ended();
  await world.clock.advance(1500);
  limiter.ended();
  world.found = { ...NOBODY, halfClosed: [{ descriptor: 7, cookie: 77n }] };
  t.same(world.looks, []);
  await world.clock.advance(600);
  t.same(world.cut, [77n]);
  t.equal(world.looks.length, 1);
  await world.clock.advance(60_000);
  t.equal(world.looks.length, 1, 'only where there is a reason');
});

t.test('[1.half-closed] a reason that arises during a look is not forgotten', async (t) => {
  const { world, limiter } = setUp();
  let finish = () => {};
  world.answer = new Promise((resolve) => {
    finish = resolve;
  });
  limiter.ended();
  await world.clock.advance(2000);
  t.equal(world.looks.length, 1);
  limiter.ended();
  await world.clock.advance(3000);
  t.equal(world.looks.length, 1, 'that look still goes on');
  finish();
  await world.clock.advance(1000);
  t.equal(world.looks.length, 2);
});

t.test('[2.unfinished] input that is never answered is in the quota, by address', async (t) => {
  const { world, limiter, quota } = setUp({ maxBytes: MIB });
  const inputOf = (cookie: number, bytes: number) => ({
    connection: { descriptor: cookie, cookie: BigInt(cookie) },
    address: '10.0.0.1',
    bytes,
  });
  limiter.ended();
  world.found = { ...NOBODY, unanswered: [inputOf(1, 10_000), inputOf(2, 500_000)] };
  await world.clock.advance(2000);
  t.equal(quota.bytesOf('10.0.0.1'), 10_000 + 65_536, 'of a message at most 64 KiB are kept');
  world.found = { ...NOBODY, unanswered: [inputOf(2, 500_000)] };
  await world.clock.advance(2000);
  t.equal(quota.bytesOf('10.0.0.1'), 65_536, 'looked at again while there is something');
  world.found = { ...NOBODY, unanswered: [2, 3, 4, 5, 6].map((cookie) => inputOf(cookie, 60_000)) };
  await world.clock.advance(2000);
  t.ok(world.cut.length >= 1, 'more than a quarter of the limit: cut');
  t.ok(quota.bytesOf('10.0.0.1') <= MIB / 4);
  world.found = NOBODY;
  await world.clock.advance(2000);
  t.equal(quota.bytes, 0);
  const { length } = world.looks;
  await world.clock.advance(60_000);
  t.equal(world.looks.length, length);
});

t.test(
  '[2.unfinished] with a thousand connections that may hold something, growth is a reason',
  async (t) => {
    const { world, open } = setUp();
    world.unfinished = 1500;
    open(1);
    await world.clock.advance(1000);
    t.equal(world.looks.length, 1, 'the first time');
    await world.clock.advance(30_000);
    t.equal(world.looks.length, 1, 'no growth, no look');
    world.rss += 10 * MIB;
    await world.clock.advance(500);
    t.equal(world.looks.length, 2);
    t.equal(world.trims, 0);
    world.unfinished = 10;
    await world.clock.advance(10_000);
    t.equal(world.trims, 1, 'what they held is to be returned to the system');
    t.equal(world.clock.timers, 0);
  },
);

t.test(
  '[1.connections] a count that cannot be refreshed refuses no client; the log says so once',
  async (t) => {
    const { world, open } = setUp();
    world.found = undefined;
    t.equal(open(100), 100);
    await world.clock.advance(10);
    t.equal(open(1000), 1000, 'without a descriptor for a look');
    await world.clock.advance(1010);
    open(1);
    world.found = NOBODY;
    await world.clock.advance(1010);
    t.equal(world.looks.length, 3, 'it is tried again after a second');
    t.equal(open(1000), 100);
    t.equal(world.lines.filter((line) => line.includes('connections cannot be counted')).length, 1);
  },
);

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

t.test('[1.connections] an address of a /64 does not take the connections of its neighbours', async (t) => {
  const { world, open } = setUp();
  t.equal(open(1000, 'fe80::bad%eth0'), 100);
  t.equal(open(100, 'fe80::1%eth0'), 100, 'all of its own');
  world.found = {
    ...NOBODY,
    clients: [
      { address: 'fe80::bad', connections: 100 },
      { address: 'fe80::1', connections: 100 },
    ],
  };
  await world.clock.advance(1000);
  let more = 0;
  for (let i = 0; i < 1000; i++) more += open(1, `fe80::2:${i.toString(16)}`);
  t.equal(more, 400 - 200, 'the network has four times the limit of one');
  t.equal(open(10, '2001:db8::1'), 10);
});

t.test(
  '[1.connections] one address, or one /64, does not take all connections that there is room for',
  async (t) => {
    const { open } = setUp({ max: 512, maxInAll: 384 });
    t.equal(open(1000), 288, 'three quarters');
    const other = setUp({ max: 512, maxInAll: 384 });
    let invented = 0;
    for (let i = 0; i < 1000; i++) invented += other.open(1, `fe80::${i.toString(16)}`);
    t.equal(invented, 288);
    t.equal(setUp({ max: 512, maxInAll: 100 }).open(150), 150, 'not where there is room for few');
  },
);
