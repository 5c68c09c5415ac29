/** Peers that acknowledge nothing: how they are judged, with literals and a fake clock. */
import { EventEmitter, once } from 'node:events';
import t from 'tap';
import type { PendingPeer } from '#src/host/host.js';
import type { ListenerOptions } from '#src/host/listener.js';
import { judgeLook, judgeTime, PeerWatch, type Suspects } from '#src/http/connections/peers.js';
import { createLog } from '#src/log/log.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { startHere } from '../helpers/service/service.ts';

const peer = (cookie: number, acknowledgedBytes: number, silentMs = 0): PendingPeer => ({
  descriptor: 10 + cookie,
  cookie: BigInt(cookie),
  acknowledgedBytes,
  silentMs,
});
const NONE: Suspects = new Map();
const sinceOf = (suspects: Suspects, cookie: number) => suspects.get(BigInt(cookie))?.since;

t.test('a look: since when each peer has made no progress', async (t) => {
  const first = judgeLook(NONE, { peers: [peer(1, 500), peer(2, 0, 3000)], at: 50_000, previousAt: 40_000 });
  t.equal(sinceOf(first, 1), 50_000, 'unknown: from the look on');
  t.equal(sinceOf(first, 2), 47_000, 'as long as the kernel has counted');
  const boasting = judgeLook(NONE, { peers: [peer(1, 0, 30_000)], at: 50_000, previousAt: 40_000 });
  t.equal(sinceOf(boasting, 1), 40_000, 'at the look before it was no suspect, whatever the kernel counts');
  const second = judgeLook(first, {
    peers: [peer(1, 500, 9000), peer(2, 1), peer(3, 7)],
    at: 60_000,
    previousAt: 50_000,
  });
  t.equal(sinceOf(second, 1), 50_000, 'nothing acknowledged since: it stays');
  t.equal(sinceOf(second, 2), 60_000, 'one byte is progress');
  t.equal(sinceOf(second, 3), 60_000);
  t.equal(
    judgeLook(second, { peers: [peer(3, 7)], at: 70_000, previousAt: 60_000 }).size,
    1,
    'drained: forgotten',
  );
});

t.test('time: which peers are gone, which are kept, when to look again', async (t) => {
  const suspects: Suspects = new Map([
    [1n, { peer: peer(1, 0), since: 10_000 }],
    [2n, { peer: peer(2, 0), since: 10_001 }],
    [3n, { peer: peer(3, 0), since: 12_000 }],
  ]);
  const { gone, kept, nextAt } = judgeTime(suspects, 30_000, 20_000);
  t.same(
    gone.map(({ cookie }) => cookie),
    [1n],
  );
  t.same([...kept.keys()], [2n, 3n]);
  t.equal(nextAt, 30_001);
  t.equal(judgeTime(NONE, 30_000, 20_000).nextAt, Number.POSITIVE_INFINITY);
});

/** A watch over connections that the test makes up. */
function setUp(limits: { readonly limitMs?: number; readonly pauseMs?: number } = { pauseMs: 10_000 }) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const world = {
    clock,
    lines,
    /** Undefined: it cannot be read. */
    pending: [] as PendingPeer[] | undefined,
    connections: 0,
    /** The promise that a look waits for. */
    answer: Promise.resolve(),
    looks: [] as number[],
    cut: [] as { readonly at: number; readonly cookies: readonly bigint[] }[],
  };
  const watch = new PeerWatch({
    clock,
    log: createLog((line) => lines.push(line), 'debug'),
    server: world,
    host: {
      async readPendingPeers(port) {
        if (port !== 80) throw new Error(`port ${port}`);
        world.looks.push(clock.now());
        await world.answer;
        if (world.pending === undefined) throw new Error('no table');
        return [...world.pending];
      },
      cutPeers(peers) {
        world.cut.push({ at: clock.now(), cookies: peers.map(({ cookie }) => cookie) });
        return peers.length;
      },
    },
    ...limits,
  });
  const open = () => {
    world.connections++;
    watch.wake();
  };
  return { world, watch, open };
}

t.test('nothing is asked without a connection, nor before the start or after the end', async (t) => {
  const { world, watch, open } = setUp();
  open();
  t.equal(world.clock.timers, 0, 'not started');
  world.connections = 0;
  watch.start(80);
  await world.clock.advance(60_000);
  t.same(world.looks, []);
  t.equal(world.clock.timers, 0, 'no timer without a connection');
  open();
  open();
  t.equal(world.clock.timers, 1);
  const openedAt = world.clock.now();
  await world.clock.advance(30_000);
  t.same(
    world.looks.map((at) => at - openedAt),
    [10_000, 20_000, 30_000],
  );
  world.connections = 0;
  await world.clock.advance(30_000);
  t.equal(world.looks.length, 3);
  t.equal(world.clock.timers, 0, 'and none after the last has gone');
  open();
  watch.stop();
  await world.clock.advance(60_000);
  t.equal(world.looks.length, 3);
  t.equal(world.clock.timers, 0);
});

t.test('few connections are looked at often, thousands less so', async (t) => {
  for (const [connections, pauseMs] of [
    [1, 5000],
    [500, 5000],
    [900, 9000],
    [1500, 15_000],
    [20_000, 15_000],
  ] as const) {
    const { world, watch } = setUp({});
    world.connections = connections;
    watch.start(80);
    const openedAt = world.clock.now();
    await world.clock.advance(3 * pauseMs);
    t.same(
      world.looks.map((at) => at - openedAt),
      [1, 2, 3].map((look) => look * pauseMs),
      `${connections} connections`,
    );
  }
});

t.test('a service whose host cannot read peers leaves them to the kernel, and says so', async (t) => {
  for (const canReadPendingPeers of [true, false]) {
    const tuned: ListenerOptions[] = [];
    const service = await startHere({
      ...fixtureHost(),
      canReadPendingPeers: () => canReadPendingPeers,
      tuneListener: (_port, options) => tuned.push(options),
    });
    await service.stop();
    t.same(
      tuned.map(({ userTimeoutMs }) => userTimeoutMs),
      [canReadPendingPeers ? undefined : 20_000],
    );
    t.equal(tuned[0]?.keepAliveIdleSeconds, 10, 'keepalive looks after silent peers either way');
    t.equal(/hostwire info: .*acknowledge/.test(service.stderr()), !canReadPendingPeers);
  }
});

t.test('a peer without progress for 20 s is cut then, one with some is not', async (t) => {
  const { world, watch, open } = setUp();
  watch.start(80);
  open();
  const openedAt = world.clock.now();
  world.pending = [peer(1, 100), peer(2, 100, 4000), peer(3, 100)];
  await world.clock.advance(20_000);
  world.pending = [peer(1, 100), peer(2, 100, 14_000), peer(3, 101)];
  await world.clock.advance(5999);
  t.same(world.cut, [], 'nobody yet');
  await world.clock.advance(1);
  t.same(
    world.cut,
    [{ at: openedAt + 26_000, cookies: [2n] }],
    'the kernel knew that it was silent before the look',
  );
  world.pending = [peer(1, 100), peer(3, 101)];
  await world.clock.advance(4000);
  t.same(world.cut[1], { at: openedAt + 30_000, cookies: [1n] });
  world.pending = [peer(3, 102)];
  await world.clock.advance(60_000);
  t.same(world.cut[2], { at: openedAt + 60_000, cookies: [3n] }, '20 s after it made progress');
});

t.test('stalls of less than 20 s, one after the other', async (t) => {
  const { world, watch, open } = setUp();
  watch.start(80);
  open();
  for (let stall = 1; stall <= 20; stall++) {
    world.pending = [peer(1, stall)];
    await world.clock.advance(19_000);
    if (stall % 2 === 0) world.pending = [];
    await world.clock.advance(300);
  }
  t.same(world.cut, []);
});

t.test('an unreadable table is logged once, and known peers stay known', async (t) => {
  const { world, watch, open } = setUp();
  watch.start(80);
  open();
  const openedAt = world.clock.now();
  world.pending = [peer(1, 1)];
  await world.clock.advance(10_000);
  world.pending = undefined;
  await world.clock.advance(30_000);
  t.same(world.cut, [{ at: openedAt + 30_000, cookies: [1n] }]);
  t.equal(world.lines.filter((line) => line.includes('no table')).length, 1);
  world.pending = [peer(2, 1)];
  await world.clock.advance(10_000);
  world.pending = undefined;
  await world.clock.advance(10_000);
  t.equal(world.lines.filter((line) => line.includes('no table')).length, 2, 'again after it could be read');
});

t.test('thousands are cut in several turns', async (t) => {
  const { world, watch, open } = setUp({ limitMs: 2000, pauseMs: 200 });
  watch.start(80);
  open();
  world.pending = Array.from({ length: 1700 }, (_, cookie) => peer(cookie, 1));
  await world.clock.advance(2200);
  world.pending = [];
  await settle();
  t.same(
    world.cut.map(({ cookies }) => cookies.length),
    [500, 500, 500, 200],
  );
  t.equal(new Set(world.cut.flatMap(({ cookies }) => cookies)).size, 1700);
});

t.test('no peer is cut after the end, even while a look is under way', async (t) => {
  const { world, watch, open } = setUp({ limitMs: 200, pauseMs: 200 });
  watch.start(80);
  open();
  world.pending = [peer(1, 1)];
  await world.clock.advance(399);
  t.equal(world.looks.length, 1);
  const answered = new EventEmitter();
  world.answer = once(answered, 'answer').then(() => undefined);
  await world.clock.advance(1);
  t.equal(world.looks.length, 2, 'the next look is under way');
  watch.stop();
  answered.emit('answer');
  await world.clock.advance(1000);
  t.same(world.cut, []);
  t.equal(world.clock.timers, 0);
});

t.test('the peers of all ports are watched', async (t) => {
  const clock = new FakeClock();
  const cut: bigint[] = [];
  const watch = new PeerWatch({
    clock,
    log: createLog(() => {}),
    server: { connections: 2 },
    host: {
      readPendingPeers: async (port) => [peer(port, 0)],
      cutPeers: (peers) => cut.push(...peers.map(({ cookie }) => cookie)),
    },
    pauseMs: 10_000,
  });
  watch.start(80, 443);
  await clock.advance(60_000);
  t.ok(cut.includes(80n) && cut.includes(443n));
  watch.stop();
});
