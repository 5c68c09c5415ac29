/** The sampler over a clock and a host of the test's own. */
import t from 'tap';
import { ALL_SECTIONS, type Counters, SECTION_BITS } from '#src/host/host.js';
import { Sampler } from '#src/stats/sampler.js';
import { type Encoded, type View, viewOf } from '#src/stats/view.js';
import { FakeClock, settle } from '../helpers/fake-clock.ts';
import { SYSTEM } from '../helpers/fixture-host.ts';
import { cpu, disk, link, memory, times } from './literals.ts';

const ALL = viewOf(ALL_SECTIONS, false);
const CPU = viewOf(SECTION_BITS.cpu, false);
const MEMORY = viewOf(SECTION_BITS.memory, false);
const DETAIL = viewOf(ALL_SECTIONS, true);

interface Read {
  readonly atMs: number;
  readonly sections: number;
  readonly withDetail: boolean;
  readonly nextInMs: number;
}

/**
 * A machine whose processor is as busy as `busyAt` says at each millisecond, and whose interface sends a thousand
 * bytes a second.
 */
class TestHost {
  readonly reads: Read[] = [];
  readonly #clock: FakeClock;
  busyAt: (ms: number) => number = () => 0.5;
  change: Partial<Counters> = {};
  error: Error | undefined;
  readSystem = () => Promise.resolve(SYSTEM);
  tuneListener = () => 1;
  descriptorLimit = () => 1000;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  readCounters = (sections: number, withDetail: boolean, nextInMs: number): Counters => {
    const now = this.#clock.now();
    this.reads.push({ atMs: now, sections, withDetail, nextInMs });
    if (this.error !== undefined) throw this.error;
    let user = 0;
    for (let ms = 0; ms < now; ms++) user += this.busyAt(ms);
    const total = times({ user, idle: now - user });
    const every: Partial<Counters> = {
      cpu: cpu(total, withDetail ? { cores: [{ index: 0, ...total }] } : {}),
      memory: memory(),
      gpus: [],
      disks: [disk('/', withDetail ? { device: 'd', io: { readBytes: now, writeBytes: 0, busyMs: 0 } } : {})],
      interfaces: [link('eth0', { sentBytes: now })],
      ...this.change,
    };
    const keys = { cpu: 1, memory: 2, gpus: 4, disks: 8, interfaces: 16, failures: 31 };
    const wanted = Object.entries(keys).filter(([, bit]) => (sections & bit) !== 0);
    return {
      takenAtNs: now * 1e6,
      sinceBootNs: now * 1e6,
      unixMs: 1e12 + now,
      ...Object.fromEntries(wanted.map(([key]) => [key, every[key as keyof typeof keys]])), // Keys of `keys`.
    };
  };
}

function setUp(intervalSeconds = 2) {
  const clock = new FakeClock();
  const host = new TestHost(clock);
  const samples: { readonly atMs: number; readonly encoded: Encoded }[] = [];
  const told: string[] = [];
  const sampler = new Sampler({
    host,
    clock,
    intervalSeconds,
    hostname: 'box',
    onSample: (encoded) => samples.push({ atMs: clock.now(), encoded }),
    onSectionChange: (section, reason) => told.push(`${section}: ${reason ?? 'back'}`),
  });
  const load = (encoded: Encoded | undefined) => encoded?.sample.cpu?.stats.current_load;
  /** Asks, and lets the clock run until the answer is there: it, and how long it took. */
  const ask = async (view: View) => {
    const startedAt = clock.now();
    let answer: Encoded | undefined;
    let failure: unknown;
    void sampler.latest(view).then(
      (encoded) => {
        answer = encoded;
      },
      (error: unknown) => {
        failure = error;
      },
    );
    await settle();
    while (answer === undefined && failure === undefined && clock.now() < startedAt + 5000)
      await clock.advance(1);
    if (answer === undefined) throw failure ?? new Error('no answer in five seconds');
    return { encoded: answer, tookMs: clock.now() - startedAt };
  };
  const times_ = () => samples.map(({ atMs }) => atMs);
  return { clock, host, sampler, samples, told, load, ask, sampleTimes: times_ };
}

t.test('[3.first-load] two readings 200 ms apart when there is no recent one', async (t) => {
  const { clock, host, ask, load } = setUp();
  host.busyAt = (ms) => (ms < 1000 ? 0 : 0.25);
  const first = await ask(ALL);
  t.equal(first.tookMs, 200);
  t.strictSame(
    host.reads.map(({ atMs }) => atMs),
    [1000, 1200],
  );
  t.equal(load(first.encoded), 25);
  await clock.advance(4001);
  host.busyAt = (ms) => (ms < 5201 ? 0 : 1);
  t.equal(load((await ask(ALL)).encoded), 100, 'the reading of 4 s ago is no longer recent');
});

t.test('[3.first-load] else against the last reading', async (t) => {
  const { clock, host, ask, load } = setUp();
  host.busyAt = (ms) => (ms < 1200 ? 0 : ms < 2200 ? 1 : 0);
  await ask(ALL);
  await clock.advance(2000 - 25);
  const next = await ask(ALL);
  t.equal(next.tookMs, 25, 'what probers are given');
  t.equal(load(next.encoded), 50, 'over the two seconds since');
});

t.test('[3.usage-age] a sample younger than a second answers at once, and without a reading', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  const { encoded } = await ask(ALL);
  await clock.advance(999);
  const reads = host.reads.length;
  t.equal(sampler.peek(ALL), encoded);
  t.equal((await ask(CPU)).encoded, encoded, 'it has what the smaller view needs');
  t.equal(host.reads.length, reads);
  t.equal(sampler.peek(DETAIL), undefined, 'it has no detail');
  await clock.advance(1);
  t.equal(sampler.peek(ALL), undefined);
  t.not((await ask(ALL)).encoded, encoded);
});

t.test('[4.demand] nothing is read while nobody listens or asks', async (t) => {
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
  t.equal(clock.timers, 0);
  const reads = host.reads.length;
  await clock.advance(60_000);
  t.equal(host.reads.length, reads);
  t.throws(() => sampler.unsubscribe(CPU));
});

t.test('[4.demand] only what somebody wants is read', async (t) => {
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
    onSample: () => times.push(clock.now()),
    onSectionChange: () => undefined,
  });
  other.subscribe(CPU);
  await clock.advance(17_000);
  t.strictSame(
    times,
    [3003, 5001, 7000, 14_300, 15_002, 17_000],
    'back on the grid after two that were missed',
  );
  t.strictSame([sampleTimes(), sampler.intervalMs], [[], 2000]);
});

t.test('setInterval takes effect at once where that is sooner, else after the next tick', async (t) => {
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

t.test('concurrent requests share one reading; a larger one takes its own', async (t) => {
  const { clock, host, sampler } = setUp();
  const same = Promise.all([sampler.latest(ALL), sampler.latest(ALL), sampler.latest(CPU)]);
  await settle();
  const larger = sampler.latest(DETAIL);
  await clock.advance(200);
  const [first, second, third] = await same;
  t.equal(first, second);
  t.equal(first, third);
  const detail = await larger;
  t.not(detail, first);
  t.ok(detail.sample.cpu?.detail);
  t.equal(host.reads.length, 4);
});

t.test('a request between two ticks neither shortens their window nor brings them forward', async (t) => {
  const { clock, host, sampler, samples, ask, load } = setUp(4);
  // Busy in the first second after each tick only.
  host.busyAt = (ms) => ((ms - 1000) % 4000 < 1000 ? 1 : 0);
  await ask(ALL);
  sampler.subscribe(ALL);
  await clock.advance(4000);
  for (const view of [ALL, DETAIL, viewOf(SECTION_BITS.cpu, true)]) {
    const { atMs } = samples.at(-1) ?? { atMs: 0 };
    await clock.advance(1500);
    await ask(view);
    await clock.advance(1200);
    await ask(view);
    await clock.advance(4000 - (clock.now() - atMs));
    const tick = samples.at(-1);
    t.equal(tick?.atMs, atMs + 4000);
    t.equal(load(tick?.encoded), 25, 'over the whole four seconds');
  }
});

t.test('a first request for detail beside ticks without: rates at once', async (t) => {
  const { clock, sampler, ask, load } = setUp();
  await ask(ALL);
  sampler.subscribe(ALL);
  await clock.advance(5000);
  const { encoded, tookMs } = await ask(DETAIL);
  t.equal(tookMs, 200);
  t.strictSame(encoded.sample.cpu?.detail?.cores, [50]);
  t.equal(encoded.sample.disks?.detail?.[0]?.read_rate, 1000);
  t.equal(encoded.sample.network?.detail?.send_rate, 1000);
  t.equal(load(encoded), 50);
  await clock.advance(1000);
  t.equal((await ask(DETAIL)).tookMs, 25, 'the next one has something to compare with');
});

t.test(
  'a request just after a tick that lacks what it wants is not compared over a few milliseconds',
  async (t) => {
    const { clock, host, sampler, ask, load } = setUp();
    await ask(DETAIL);
    sampler.subscribe(CPU);
    await clock.advance(2010);
    const tickAt = host.reads.at(-1)?.atMs ?? 0;
    host.busyAt = (ms) => (ms < tickAt ? 0.5 : 0.25);
    const { encoded } = await ask(viewOf(SECTION_BITS.cpu | SECTION_BITS.memory, false));
    t.ok(clock.now() - tickAt >= 200);
    t.equal(load(encoded), 25);
  },
);

t.test('a tick that comes while a request waits answers it', async (t) => {
  const { clock, sampler, samples, ask } = setUp();
  await ask(ALL);
  sampler.subscribe(ALL);
  await clock.advance(1990);
  const { encoded, tookMs } = await ask(ALL);
  t.equal(samples.length, 1);
  t.equal(encoded, samples[0]?.encoded);
  t.equal(tookMs, 25);
});

t.test('probers are asked for the tick even when a request comes before it', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  await ask(ALL);
  sampler.subscribe(ALL);
  await clock.advance(3200);
  await ask(ALL);
  t.equal(host.reads.at(-1)?.nextInMs, sampler.nextTickInMs);
  await clock.advance(2000);
  t.equal(host.reads.at(-1)?.nextInMs, 2000);
});

t.test('sums never go back between requests and ticks', async (t) => {
  const { clock, host, sampler, samples, ask } = setUp();
  const sent = (encoded: Encoded | undefined) => encoded?.sample.network?.stats.bytesSent ?? 0;
  const setSent = (bytes: number) => {
    host.change = { interfaces: [link('eth0', { sentBytes: bytes })] };
  };
  setSent(1000);
  await ask(ALL);
  sampler.subscribe(ALL);
  await clock.advance(3500);
  setSent(1200);
  const between = sent((await ask(ALL)).encoded);
  t.equal(between, 1200);
  setSent(50);
  await clock.advance(1000);
  t.equal(sent(samples.at(-1)?.encoded), 1250, 'the reset came after 1200 were shown');
});

t.test('a section that fails is told once a change, whoever reads', async (t) => {
  const { clock, host, sampler, told, ask, samples } = setUp();
  sampler.subscribe(ALL);
  await clock.advance(2000);
  host.change = { memory: null, failures: { memory: 'ENOENT' } };
  await clock.advance(4000);
  host.change = { memory: null };
  await clock.advance(1500);
  await ask(viewOf(SECTION_BITS.cpu, true));
  host.change = { memory: null, failures: { memory: 'ENOENT' } };
  await clock.advance(2000);
  t.strictSame(told, ['memory: ENOENT']);
  t.match(samples.at(-1)?.encoded.sample.cpu?.stats, { current_load: 50 });
  host.change = {};
  await clock.advance(2000);
  t.strictSame(told, ['memory: ENOENT', 'memory: back']);
});

t.test('a host that throws costs ticks and requests, never the clock', async (t) => {
  const { clock, host, sampler, told, samples, ask } = setUp();
  host.error = new Error('torn');
  await t.rejects(ask(ALL), { message: 'torn' });
  sampler.subscribe(ALL);
  await clock.advance(6000);
  t.equal(samples.length, 0);
  t.strictSame(told, ['host: torn']);
  host.error = undefined;
  await clock.advance(4000);
  t.equal(samples.length, 2);
  t.strictSame(told, ['host: torn', 'host: back']);
});

t.test('close ends the clock', async (t) => {
  const { clock, sampler, samples } = setUp();
  sampler.subscribe(ALL);
  sampler.close();
  await clock.advance(10_000);
  t.strictSame([samples.length, clock.timers], [0, 0]);
});
