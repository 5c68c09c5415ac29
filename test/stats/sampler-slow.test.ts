/** The sampler's slow demand, alone and beside ticks and requests. */
import t from 'tap';
import { ALL_SECTIONS, SECTION_BITS } from '#src/host/host.js';
import { ALL_DETAILS, DETAIL_BITS, type Needs } from '#src/stats/needs.js';
import type { Sample } from '#src/stats/sample.js';
import type { Encoded } from '#src/stats/view.js';
import { type viewAt, viewOf } from '#src/stats/view.js';
import { createRandom } from '../helpers/random.ts';
import { CPU, DETAIL, MEMORY, setUp } from './sampler-setup.ts';

const SLOW: Needs = { sections: ALL_SECTIONS, withDetail: true, details: DETAIL_BITS.limits };

/** A sampler with a slow demand that reads every `slowMs`, first at `slowMs`. */
function setUpSlow(slowMs = 10_000, intervalSeconds = 2) {
  const set = setUp(intervalSeconds);
  const own: { readonly atMs: number; readonly encoded: Encoded }[] = [];
  set.sampler.setSlow(
    {
      needs: SLOW,
      intervalMs: slowMs,
      nextInMs: () => slowMs,
      publish: (encoded) => own.push({ atMs: set.clock.now(), encoded }),
    },
    slowMs,
  );
  return { ...set, own, ownTimes: () => own.map(({ atMs }) => atMs) };
}

const readTimes = ({ host }: Pick<ReturnType<typeof setUp>, 'host'>) => host.reads.map(({ atMs }) => atMs);
/** Bytes per second that the disk has read, which are 1000, if the time they are over is known. */
const diskRate = ({ disks }: Sample) => disks?.detail?.[0]?.read_rate;

t.test('without subscribers it reads at its own pace, and no sink is sent that', async (t) => {
  const set = setUpSlow();
  await set.clock.advance(40_000);
  t.strictSame(set.ownTimes(), [11_200, 21_200, 31_200]);
  t.strictSame(
    readTimes(set),
    [11_000, ...set.ownTimes()],
    'one reading each, and one that begins the windows',
  );
  t.strictSame(set.samples, []);
  t.ok(
    set.host.reads.slice(1).every(({ nextInMs }) => nextInMs === 10_000),
    'the probers are asked before the next',
  );
  t.equal(set.sampler.nextTickInMs, Number.POSITIVE_INFINITY, 'none of these is a tick');
  t.equal(set.sampler.tickCounters.ticks, 0);
  set.sampler.setSlow(undefined);
  await set.clock.advance(40_000);
  t.equal(set.own.length, 3);
  t.equal(set.clock.timers, 0);
});

t.test('the time to the next reading may depend on the clock of the machine', async (t) => {
  const { clock, sampler, host } = setUp();
  const asked: number[] = [];
  const nextInMs = (unixMs: number) => {
    asked.push(unixMs);
    return 7000;
  };
  sampler.setSlow({ needs: MEMORY, intervalMs: 5000, nextInMs, publish: () => undefined }, 1000);
  await clock.advance(1000);
  host.error = new Error('torn');
  await clock.advance(7000);
  host.error = undefined;
  await clock.advance(5000);
  t.strictSame(readTimes({ host }), [2000, 9000, 14_000], 'after a reading that failed the interval counts');
  t.strictSame(asked, [1e12 + 2000, 1e12 + 14_000]);
});

t.test('a tick that is near reads for both', async (t) => {
  const set = setUpSlow();
  const { clock, host, sampler } = set;
  sampler.subscribe(CPU);
  await clock.advance(20_000);
  t.strictSame(set.own, []);
  t.strictSame(readTimes(set), set.sampleTimes(), 'no reading is added');
  t.strictSame(
    host.reads.filter(({ withDetail }) => withDetail).map(({ atMs }) => atMs),
    [9000, 11_000, 19_000, 21_000],
    'the tick before asks the probers',
  );
  const [ahead, due] = [set.samples[3]?.encoded.sample, set.samples[4]?.encoded.sample];
  t.equal(ahead?.cpu?.detail, undefined, 'but its sample is not detailed');
  t.equal(due && diskRate(due), null, 'a first reading');
  const second = set.samples[9]?.encoded.sample;
  t.equal(second && diskRate(second), 1000);
  t.equal(second?.cpu?.stats.current_load, 50);
});

t.test('ticks that are too far apart to share: it takes its own readings', async (t) => {
  const set = setUpSlow(10_000, 60);
  const { clock, sampler } = set;
  sampler.subscribe(CPU);
  await clock.advance(120_000);
  t.strictSame(set.sampleTimes(), [61_000, 121_000], 'subscribers are sent neither more nor less');
  t.equal(set.own.length, 10);
  t.equal(readTimes(set).length, 13, 'with the one that begins the windows');
  const { length } = set.own;
  sampler.unsubscribe(CPU);
  await clock.advance(20_000);
  t.equal(set.own.length, length + 2, 'it goes on when they leave');
});

t.test('each is over the time since the reading before of its own kind', async (t) => {
  const set = setUpSlow(10_000, 60);
  const { clock, host, sampler } = set;
  // Busy in the first five seconds of each minute of ticks.
  host.busyAt = (ms) => ((ms - 1000) % 60_000 < 5000 ? 1 : 0);
  sampler.subscribe(CPU);
  await clock.advance(120_000);
  const loads = set.own.map(({ atMs, encoded }) => [atMs, encoded.sample.cpu?.stats.current_load]);
  t.strictSame(loads.slice(5, 7), [
    [71_000, 50],
    [81_000, 0],
  ]);
  const { encoded } = set.samples.at(-1) ?? {};
  t.equal(set.load(encoded), 8.3, 'the tick is over the whole minute');
  t.equal(encoded && diskRate(encoded.sample), 1000);
});

t.test('details of the slow demand alone are over the time since its last reading', async (t) => {
  const set = setUpSlow();
  const { clock, host, sampler, ask } = set;
  sampler.subscribe(MEMORY);
  await clock.advance(17_500);
  await ask(DETAIL);
  // Busy from just after the request on.
  const from = clock.now();
  host.busyAt = (ms) => (ms < from ? 0.5 : 1);
  await clock.advance(21_000 - clock.now());
  const sample = set.samples.at(-1)?.encoded.sample;
  t.equal(sample?.extras?.window_seconds, 10);
  t.equal(sample?.cpu?.detail?.cores[0], Math.round(((from - 11_000) / 2 + 21_000 - from) / 10) / 10);
});

t.test('a subscriber is not shown what was before it came', async (t) => {
  const set = setUpSlow(10_000, 2);
  const { clock, host, sampler, ask } = set;
  host.busyAt = (ms) => (ms < 15_000 ? 1 : 0);
  await clock.advance(17_000);
  await ask(DETAIL);
  sampler.subscribe(DETAIL);
  await clock.advance(2000);
  const sample = set.samples[0]?.encoded.sample;
  t.equal(sample?.cpu?.stats.current_load, 0, 'its first tick is over the time since its request');
  await clock.advance(2000);
  t.equal(set.samples[1]?.encoded.sample.extras?.window_seconds, 2);
});

t.test('a request uses what the slow demand has read', async (t) => {
  const set = setUpSlow();
  const { clock, ask } = set;
  await clock.advance(10_500);
  t.equal((await ask(CPU)).encoded, set.own[0]?.encoded, 'a sample younger than a second');
  await clock.advance(1500);
  const { encoded, tookMs } = await ask(CPU);
  t.equal(tookMs, 25, 'it is compared with that reading at once');
  t.equal(set.load(encoded), 50);
  t.equal(set.host.reads.at(-1)?.nextInMs, 21_200 - clock.now());
});

t.test('close ends it, and nothing starts it again', async (t) => {
  const { clock, sampler, own } = setUpSlow();
  sampler.close();
  sampler.setSlow({ needs: SLOW, intervalMs: 1000, nextInMs: () => 1000, publish: () => t.fail() }, 0);
  sampler.subscribe(CPU);
  await clock.advance(30_000);
  t.strictSame([own.length, clock.timers], [0, 0]);
});

/** Returns the samples of subscribers in a random life, with or without a slow demand beside them. */
async function live(seed: number, withSlow: boolean) {
  const random = createRandom(seed);
  const set = setUp([1, 2, 3, 30][seed % 4]);
  const { clock, sampler, host } = set;
  let slowReads = 0;
  if (withSlow) {
    const slow = { needs: SLOW, intervalMs: 10_000, nextInMs: () => 10_000, publish: () => slowReads++ };
    sampler.setSlow(slow, 700);
  }
  const subscribed: ReturnType<typeof viewAt>[] = [];
  const lines: string[] = [];
  for (let step = 0; step < 60; step++) {
    const what = random.below(10);
    const view = viewOf(
      random.pick([ALL_SECTIONS, SECTION_BITS.cpu, SECTION_BITS.memory]),
      random.below(2) > 0,
    );
    if (what < 3 && subscribed.length < 3) {
      subscribed.push(view);
      sampler.subscribe(view);
    } else if (what < 6) {
      const old = subscribed.shift();
      if (old !== undefined) sampler.unsubscribe(old);
    }
    const { length } = set.samples;
    await clock.advance(random.below(5000));
    for (const { atMs, encoded } of set.samples.slice(length)) {
      const views = subscribed.map((one) => Object.keys(JSON.parse(encoded.json(one))));
      lines.push(`${atMs} ${sampler.nextTickInMs} ${JSON.stringify(views)}`);
    }
  }
  return { lines, slowReads, reads: host.reads.length };
}

t.test(
  '[4.history-shared] subscribers are sent the same events at the same times with it and without',
  async (t) => {
    let [own, events] = [0, 0];
    for (let seed = 0; seed < 24; seed++) {
      const [without, beside] = [await live(seed, false), await live(seed, true)];
      t.strictSame(beside.lines, without.lines, `seed ${seed}`);
      own += beside.slowReads;
      events += without.lines.length;
    }
    t.ok(own > 50 && events > 50, `${own} own readings, ${events} events`);
  },
);

t.test('a slow demand of nothing but a detail', async (t) => {
  const { clock, host, sampler } = setUp();
  const needs = { sections: 0, withDetail: true, details: ALL_DETAILS & DETAIL_BITS.batteries };
  sampler.setSlow({ needs, intervalMs: 60_000, nextInMs: () => 60_000, publish: () => undefined }, 60_000);
  await clock.advance(60_000);
  const [read] = host.reads;
  t.match(read, { sections: 0, withDetail: true, details: DETAIL_BITS.batteries });
});
