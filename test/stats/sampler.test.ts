/** The sampler's ticks: demand, deadlines, failures. */
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { Sampler } from '#src/stats/sampler.js';
import { viewOf } from '#src/stats/view.js';
import { ALL, CPU, MEMORY, setUp } from './sampler-setup.ts';

t.test('[4.demand] nothing is read without subscribers and requests', async (t) => {
  const { clock, host, sampler, samples } = setUp();
  await clock.advance(60_000);
  t.equal(host.reads.length, 0);
  t.equal(clock.timers, 0);
  t.equal(sampler.nextTickInMs, Number.POSITIVE_INFINITY);
  sampler.subscribe(CPU);
  sampler.subscribe(CPU);
  await clock.advance(4000);
  sampler.unsubscribe(CPU);
  await clock.advance(2000);
  t.equal(samples.length, 3);
  sampler.unsubscribe(CPU);
  const reads = host.reads.length;
  await clock.advance(600_000);
  t.strictSame([host.reads.length, clock.timers], [reads, 0]);
  t.throws(() => sampler.unsubscribe(CPU));
});

t.test('[4.demand] only the sections in demand are read', async (t) => {
  const { clock, host, sampler } = setUp();
  const lastRead = () => {
    const { sections, withDetail } = host.reads.at(-1) ?? { sections: -1, withDetail: false };
    return [sections, withDetail];
  };
  sampler.subscribe(CPU);
  await clock.advance(2000);
  t.strictSame(lastRead(), [CPU.sections, false]);
  sampler.subscribe(viewOf(SECTION_BITS.memory, true));
  await clock.advance(2000);
  t.strictSame(lastRead(), [CPU.sections | MEMORY.sections, true]);
  sampler.unsubscribe(CPU);
  await clock.advance(2000);
  t.strictSame(lastRead(), [MEMORY.sections, true]);
  sampler.subscribe(viewOf(0, false));
  sampler.unsubscribe(viewOf(SECTION_BITS.memory, true));
  await clock.advance(2000);
  t.strictSame(lastRead(), [0, false], 'timestamp and uptime alone');
});

t.test('[4.interval] absolute deadlines: lateness never adds up, missed ticks are skipped', async (t) => {
  const { clock, sampler, sampleTimes } = setUp();
  sampler.subscribe(ALL);
  await clock.advance(20_000);
  t.strictSame(sampleTimes(), [3000, 5000, 7000, 9000, 11_000, 13_000, 15_000, 17_000, 19_000, 21_000]);
  t.equal(sampler.nextTickInMs, 2000);
});

t.test('[4.interval] timers that fire late', async (t) => {
  const { clock, host, sampler, sampleTimes } = setUp();
  const late = [3, 1, 0, 5300, 2, 0];
  const { setTimer } = clock;
  const lateClock = { ...clock, now: clock.now, clearTimer: clock.clearTimer };
  const times: number[] = [];
  const other = new Sampler({
    host,
    clock: { ...lateClock, setTimer: (fire, delay) => setTimer(fire, delay + (late.shift() ?? 0)) },
    intervalSeconds: 2,
    hostname: 'box',
    log: { info: () => undefined, warn: () => undefined },
  });
  other.attach({ publish: () => times.push(clock.now()) });
  other.subscribe(CPU);
  await clock.advance(17_000);
  t.strictSame(
    times,
    [3003, 5001, 7000, 14_300, 15_002, 17_000],
    'back on the grid after two that were missed',
  );
  t.strictSame([sampleTimes(), sampler.intervalMs], [[], 2000]);
});

t.test('setInterval takes effect immediately if that is sooner, otherwise after the next tick', async (t) => {
  const { clock, sampler, sampleTimes } = setUp(10);
  sampler.subscribe(CPU);
  await clock.advance(3000);
  sampler.setInterval(1);
  await clock.advance(2000);
  t.strictSame(sampleTimes(), [5000, 6000]);
  sampler.setInterval(5);
  await clock.advance(6000);
  t.strictSame(sampleTimes(), [5000, 6000, 7000, 12_000]);
  sampler.setInterval(5);
  await clock.advance(5000);
  t.equal(sampleTimes().at(-1), 17_000, 'the same again moves nothing');
  t.equal(sampler.intervalMs, 5000);
});

t.test('a failing section is reported once per change, no matter which reading found it', async (t) => {
  const { clock, host, sampler, logged, ask, samples } = setUp();
  sampler.subscribe(ALL);
  await clock.advance(2000);
  host.change = { memory: null, failures: { memory: 'ENOENT' } };
  await clock.advance(4000);
  host.change = { memory: null };
  await clock.advance(1500);
  await ask(viewOf(SECTION_BITS.cpu, true));
  host.change = { memory: null, failures: { memory: 'ENOENT' } };
  await clock.advance(2000);
  t.strictSame(logged, ['memory: ENOENT']);
  t.match(samples.at(-1)?.encoded.sample.cpu?.stats, { current_load: 50 });
  host.change = {};
  await clock.advance(2000);
  t.strictSame(logged, ['memory: ENOENT', 'memory: back']);
});

t.test('a host that throws costs ticks and requests, never the clock', async (t) => {
  const { clock, host, sampler, logged, samples, ask } = setUp();
  host.error = new Error('torn');
  await t.rejects(ask(ALL), { message: 'torn' });
  sampler.subscribe(ALL);
  await clock.advance(6000);
  t.equal(samples.length, 0);
  t.strictSame(logged, ['host: torn']);
  host.error = undefined;
  await clock.advance(4000);
  t.equal(samples.length, 2);
  t.strictSame(logged, ['host: torn', 'host: back']);
});

t.test('close ends the clock', async (t) => {
  const { clock, sampler, samples } = setUp();
  sampler.subscribe(ALL);
  sampler.close();
  await clock.advance(10_000);
  t.strictSame([samples.length, clock.timers], [0, 0]);
});

t.test('a sink with a view is demand while it is attached, and gets every tick', async (t) => {
  const { clock, host, sampler } = setUp(2);
  const got: string[] = [];
  const detach = sampler.attach({
    view: CPU,
    publish: ({ sample }) =>
      got.push(
        Object.keys(sample)
          .filter((key) => key === 'cpu')
          .join(),
      ),
  });
  await clock.advance(4000);
  t.strictSame(got, ['cpu', 'cpu']);
  t.ok(host.reads.every(({ sections }) => sections === CPU.sections));
  detach();
  detach();
  const { length } = host.reads;
  await clock.advance(4000);
  t.equal(host.reads.length, length, 'no demand is left');
});

t.test('a sink without a view is not a demand, and gets the ticks that others demand', async (t) => {
  const { clock, host, sampler, samples } = setUp(2);
  let own = 0;
  const detach = sampler.attach({ publish: () => own++ });
  await clock.advance(4000);
  t.equal(host.reads.length, 0);
  sampler.subscribe(MEMORY);
  await clock.advance(4000);
  t.equal(own, 2);
  detach();
  await clock.advance(2000);
  t.strictSame([own, samples.length], [2, 3], 'the other sink is still attached');
});
