/** Samples derived from two readings: baselines, clocks, suspends, and a flood of random counters. */
import t from 'tap';
import { ALL_SECTIONS, type Counters, type InterfaceCounters, SECTION_BITS } from '#src/host/host.js';
import { type Baseline, NO_BASELINE } from '#src/stats/baseline.js';
import { withKeys } from '#src/stats/readings.js';
import { deriveSample, type Sample } from '#src/stats/sample.js';
import { Encoded, viewOf } from '#src/stats/view.js';
import { createRandom } from '../helpers/random.ts';
import { at, cpu, disk, link, memory, times } from './literals.ts';

const TOP = { interval_seconds: 2, host: 'box' };

/** The last sample of `readings` in a row, all with detail. */
function after(...readings: readonly Counters[]): Sample {
  let baseline: Baseline = NO_BASELINE;
  let last: Sample | undefined;
  for (const counters of readings) {
    const derived = deriveSample(baseline, counters, TOP);
    baseline = derived.baseline;
    last = derived.sample;
  }
  if (last === undefined) throw new Error('no reading');
  return last;
}

const traffic = (sentBytes: number, receivedBytes = 0) => ({
  network: [link('eth0', { sentBytes, receivedBytes })],
});
const rateOf = (sample: Sample) => sample.network?.detail?.send_rate;

t.test('[3.top] whole seconds, rounded down', async (t) => {
  const { sample } = deriveSample(NO_BASELINE, {
    takenAtNs: 0,
    sinceBootNs: 59.99e9,
    unixMs: 1_732_150_800_999,
  });
  t.equal(sample.timestamp, 1_732_150_800);
  t.equal(sample.uptime, 59);
});

t.test('a section that was not read is absent; one that failed is there and breaks nothing', async (t) => {
  const sample = after(at(1, { cpu: null, memory: memory(), disks: null, network: null, gpu: null }));
  t.strictSame(sample.cpu?.stats, { current_load: 0, current_temp: 0, current_speed: 0 });
  t.strictSame(sample.memory?.stats, { used: 600, free: 400, used_percent: 60 });
  t.strictSame(sample.disks, { stats: [], detail: [] });
  t.equal(sample.gpu?.stats, null);
  t.match(sample.network?.stats, { bytesSent: 0, bytesRecv: 0 });
  const some = after(at(1, { memory: memory() }));
  t.strictSame([some.cpu, some.disks, some.network, some.gpu], [undefined, undefined, undefined, undefined]);
});

t.test('a section that fails once continues from its last reading', async (t) => {
  const sample = after(
    at(1, { cpu: cpu({ idle: 100 }), ...traffic(100) }),
    at(3, { cpu: null, network: null }),
    at(5, { cpu: cpu({ idle: 150, user: 50 }), ...traffic(500) }),
  );
  t.equal(sample.cpu?.stats.current_load, 50);
  t.equal(rateOf(sample), 100, 'over the four seconds');
});

t.test(
  "a prober's interfaces: rates over its own time, and none where it has not answered again",
  async (t) => {
    const first = at(10, { ...traffic(0), networkTakenAtNs: 9.2e9 });
    const second = at(11, { ...traffic(500), networkTakenAtNs: 9.7e9 });
    t.equal(rateOf(after(first, second)), 1000, 'half a second');
    const again = at(12, { ...traffic(500), networkTakenAtNs: 9.7e9 });
    t.equal(rateOf(after(first, second, again)), null);
    t.match(after(first, second, again).network?.stats, { bytesSent: 500 });
    const third = at(13, { ...traffic(2500), networkTakenAtNs: 10.7e9 });
    t.equal(rateOf(after(first, second, again, third)), 2000, 'a second');
  },
);

t.test('a baseline of its own for each section, and for what only detail has', async (t) => {
  const core = (user: number, idle: number) => ({ cores: [{ index: 0, ...times({ user, idle }) }] });
  const io = (readBytes: number) => ({
    disks: [disk('/', { device: 'd', io: { readBytes, writeBytes: 0, busyMs: 0 } })],
  });
  const first = deriveSample(NO_BASELINE, at(1, { cpu: cpu({}, core(0, 0)), ...io(0) }), TOP);
  const plain = deriveSample(first.baseline, at(3, { cpu: cpu({ user: 10 }), disks: [disk('/')] }));
  const last = deriveSample(
    plain.baseline,
    at(5, { cpu: cpu({ user: 20, idle: 30 }, core(25, 75)), ...io(4000) }),
    TOP,
  );
  t.equal(last.sample.cpu?.detail?.current_load, 25, 'since the reading before');
  t.strictSame(last.sample.cpu?.detail?.cores, [25], 'since the last one with cores');
  t.equal(last.sample.disks?.detail?.[0]?.read_rate, 1000, 'over four seconds');
  t.equal(plain.sample.disks?.detail, undefined);
});

t.test('[3.rates-null] a suspend: no rates on the first reading after it, uptime counts it', async (t) => {
  const before = at(100, traffic(0));
  const resumed = after(before, at(3702, traffic(1_000_000), 3600));
  t.equal(rateOf(resumed), null);
  t.equal(resumed.uptime, 3702);
  t.equal(rateOf(after(before, at(3702, traffic(0), 3600), at(3704, traffic(200), 3600))), 100);
  t.equal(rateOf(after(before, at(102.5, traffic(200), 0.5))), 100, 'half a second is a hiccup');
});

t.test(
  'clocks that jump: the wall clock is only shown, and there are no rates while time stands still',
  async (t) => {
    const back = { ...at(102, traffic(200)), unixMs: 5000 };
    t.equal(rateOf(after(at(100, traffic(0)), back)), 100);
    t.equal(after(at(100), back).timestamp, 5);
    t.equal(rateOf(after(at(100, traffic(0)), at(100, traffic(9)))), null);
    t.equal(
      rateOf(after(at(100, traffic(0)), at(100.0005, traffic(9)))),
      null,
      'half a millisecond is noise',
    );
    t.equal(rateOf(after(at(100, traffic(0)), at(99, traffic(9)))), null);
  },
);

t.test('withKeys takes the totals, and of the keys what there is', async (t) => {
  const of = (seconds: number, sent: number) =>
    deriveSample(NO_BASELINE, at(seconds, { cpu: cpu({ user: sent }), ...traffic(sent) }), TOP).baseline;
  const merged = withKeys(of(1, 10), of(2, 20), SECTION_BITS.network);
  t.equal(merged.cpu?.counters.total.user, 10);
  t.equal(merged.network?.counters[0]?.sentBytes, 20);
  t.equal(merged.totals.sentBytes, 20);
  t.equal(withKeys(of(1, 10), NO_BASELINE, SECTION_BITS.cpu).cpu?.counters.total.user, 10);
});

const { word, below } = createRandom(20_261_121);
const chance = (share: number) => word() < share * 2 ** 32;
/** Mostly small, sometimes as large as 64 bits can be. */
const count = () => (chance(0.05) ? 2 ** 64 : chance(0.2) ? 0 : below(10 ** below(16)));
const maybe = <T>(value: () => T): T | null => (chance(0.15) ? null : value());
const some = <T>(most: number, value: (index: number) => T): readonly T[] =>
  Array.from({ length: below(most + 1) }, (_, index) => value(index));
const anyTimes = () =>
  times({
    user: count(),
    nice: count(),
    system: count(),
    idle: count(),
    iowait: count(),
    irq: count(),
    steal: count(),
  });

const anyLink = (index: number): InterfaceCounters =>
  link(`if${index}`, {
    index: chance(0.1) ? below(1000) : index,
    kind: chance(0.1) ? 'bond' : index === 0 ? 'loopback' : 'ethernet',
    hasDevice: chance(0.5),
    masterIndex: chance(0.2) ? below(6) : 0,
    lowerIndex: chance(0.2) ? below(6) : 0,
    sentBytes: count(),
    receivedBytes: count(),
    sentPackets: count(),
    receivedPackets: count(),
    receiveErrors: count(),
  });

function anyCounters(seconds: number): Counters {
  const usage = () => maybe(() => ({ totalBytes: count(), freeBytes: count(), availableBytes: count() }));
  const io = () => maybe(() => ({ readBytes: count(), writeBytes: count(), busyMs: count() }));
  const sections: Partial<Counters> = {
    cpu: maybe(() =>
      cpu(anyTimes(), {
        temperatureCelsius: maybe(() => below(150_000) / 1000 - 50),
        speedHz: maybe(count),
        cores: some(6, (index) => ({ index, ...anyTimes() })),
        coreSpeedsHz: some(6, () => maybe(count)),
        pressure: maybe(() => ({ some: below(101), full: below(101) })),
      }),
    ),
    memory: maybe(() =>
      memory({
        totalBytes: count(),
        availableBytes: count(),
        swapTotalBytes: count(),
        swapFreeBytes: count(),
      }),
    ),
    disks: maybe(() => some(4, (index) => disk(`/${index}`, { device: 'd', usage: usage(), io: io() }))),
    network: maybe(() => some(5, anyLink)),
  };
  const jump = chance(0.1) ? below(100_000) : 0;
  return { ...at(seconds + jump, sections, chance(0.1) ? below(1000) : 0), unixMs: count() };
}

/** The paths in `value` of numbers that must not be on the wire. */
function badNumbers(value: unknown, path: string): readonly string[] {
  if (typeof value === 'number') {
    // A board outdoors may freeze; nothing else in detail is below zero here.
    const mayBeNegative = /\+.*temp/.test(path);
    const isGood = Number.isFinite(value) && (value >= 0 || mayBeNegative);
    return isGood && (!/percent|load$/.test(path) || value <= 100) ? [] : [`${path} = ${value}`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => badNumbers(part, `${path}.${key}`));
}

t.test(
  '[3.finite] 20,000 random readings: no NaN, nothing infinite or negative, sums only grow',
  async (t) => {
    let baseline: Baseline = NO_BASELINE;
    let sent = 0;
    let received = 0;
    let problems = 0;
    const note = (text: string) => {
      if (++problems <= 5) t.fail(text);
    };
    for (let reading = 0; reading < 20_000; reading++) {
      // After 2^64 bytes small sums are lost in the total, so a new machine begins now and then.
      if (reading % 50 === 0) [baseline, sent, received] = [NO_BASELINE, 0, 0];
      const counters = anyCounters(reading * (chance(0.05) ? 0 : 2));
      const derived = deriveSample(baseline, counters, TOP);
      baseline = derived.baseline;
      const { sample } = derived;
      const sections = [sample.cpu, sample.memory, sample.gpu, sample.disks, sample.network];
      for (const section of sections) {
        for (const bad of badNumbers(section?.stats, 'default')) note(bad);
        for (const bad of badNumbers(section?.detail, 'detail+')) note(bad);
      }
      const stats = sample.network?.stats;
      if (stats !== undefined && (stats.bytesSent < sent || stats.bytesRecv < received))
        note(`sums went back at reading ${reading}`);
      sent = stats?.bytesSent ?? sent;
      received = stats?.bytesRecv ?? received;
      if (reading % 100 === 0) {
        const text = new Encoded(sample).json(viewOf(ALL_SECTIONS, true));
        if (JSON.stringify(JSON.parse(text)) !== text) note('JSON that does not come back as it is');
      }
    }
    t.equal(problems, 0);
  },
);
