/** When all connections are looked at, and what follows from it: on a clock of the test's, without sockets. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { ClientConnections } from '#src/host/host.js';
import { ConnectionLimiter } from '#src/http/connections/connection-limiter.js';
import { createLog } from '#src/log/log.js';
import { FakeClock } from '../helpers/fakes/clock.ts';

function setUp({ max = 100, maxInAll = 100_000, ports = [80] } = {}) {
  const clock = new FakeClock();
  const world = {
    clock,
    looks: [] as number[],
    /** Undefined: it cannot be taken. */
    found: [] as readonly ClientConnections[] | undefined,
    open: 100_000,
    lines: [] as string[],
  };
  const limiter = new ConnectionLimiter({
    clock,
    log: createLog((line) => world.lines.push(line)),
    host: {
      async readConnections(port) {
        world.looks.push(port);
        if (world.found === undefined) throw new Error('no descriptors');
        return world.found;
      },
    },
    maxPerAddress: () => max,
    maxInAll: () => maxInAll,
    isProxy: (address) => address === '10.9.9.9',
    open: () => world.open,
  });
  limiter.start(...ports);
  const open = (count: number, address = '10.0.0.1') =>
    Array.from({ length: count }, () => limiter.opened(address)).filter((isAdmitted) => isAdmitted).length;
  /** Lets a look end, and the pause after it. */
  const pass = async () => {
    await nextTurn();
    await clock.advance(1000);
  };
  return { world, open, pass };
}

t.test('[1.connections] few connections of an address are never looked at', async (t) => {
  const { world, open, pass } = setUp();
  for (let i = 0; i < 1000; i++) open(40, `10.1.${i >> 8}.${i & 255}`);
  await pass();
  t.same(world.looks, []);
  t.equal(world.clock.timers, 0, 'and no timer runs');
});

t.test('[1.connections] connections to all ports of the service are counted', async (t) => {
  const { world, open, pass } = setUp({ ports: [80, 443] });
  open(50);
  world.found = [{ address: '10.0.0.1', connections: 60 }];
  open(1);
  await pass();
  t.same(world.looks, [80, 443]);
  t.equal(open(1), 0, '60 on either port');
});

t.test('[1.connections] many are counted, and those that closed are given back', async (t) => {
  const { world, open, pass } = setUp();
  world.found = [{ address: '10.0.0.1', connections: 3 }];
  for (let i = 0; i < 50; i++) {
    t.equal(open(40), 40);
    await pass();
  }
  t.ok(world.looks.length >= 20, `${world.looks.length} looks at 2,000 connections that closed again`);
});

t.test('[1.connections] an address that has too many is refused, another one not', async (t) => {
  const { world, open, pass } = setUp();
  let real = 0;
  for (let i = 0; i < 20; i++) {
    real += open(10);
    world.found = [{ address: '10.0.0.1', connections: real }];
    await pass();
  }
  t.ok(real > 90 && real <= 100, `${real}: those that came first are served`);
  t.equal(open(10, '10.0.0.2'), 10);
  t.equal(open(500, '10.9.9.9'), 500, 'a trusted proxy is not counted');
  world.found = [];
  open(1);
  await pass();
  t.equal(open(50), 50, 'when they are gone');
});

t.test('[1.connections] connections that have closed since the last look refuse no client', async (t) => {
  const { world, open } = setUp();
  world.open = 100;
  t.equal(open(1000), 1000, 'one after the other, as fast as they can');
  world.open = 101;
  t.equal(open(1), 0);
});

t.test(
  '[1.connections] a count that cannot be refreshed refuses no client; the log says so once',
  async (t) => {
    const { world, open, pass } = setUp();
    world.found = undefined;
    t.equal(open(100), 100);
    await pass();
    t.equal(open(1000), 1000, 'without a descriptor for a look');
    await pass();
    open(1);
    world.found = [];
    await pass();
    open(1);
    await pass();
    t.equal(open(1000), 99, 'it is tried again');
    t.equal(world.lines.filter((line) => line.includes('connections cannot be counted')).length, 1);
  },
);

t.test('[1.connections] an address of a /64 does not take the connections of its neighbours', async (t) => {
  const { world, open, pass } = setUp();
  t.equal(open(1000, 'fe80::bad%eth0'), 100);
  t.equal(open(100, 'fe80::1%eth0'), 100, 'all of its own');
  world.found = ['fe80::bad', 'fe80::1'].map((address) => ({ address, connections: 100 }));
  await pass();
  open(1, 'fe80::1%eth0');
  await pass();
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
    t.equal(setUp({ max: 512, maxInAll: 60 }).open(150), 150, 'not where there is room for few');
  },
);
