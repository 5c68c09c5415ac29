/** Requests at a pace of their own: each is answered with the average since the last requested reading. */
import t from 'tap';
import type { Encoded } from '#src/stats/view.js';
import { ALL, CPU, DETAIL, MEMORY, setUp } from './sampler-setup.ts';

/** Busy by three patterns, none of which a short window shows. */
const PHASES = [0.41, 0.79, 0.62];
const DUTY_MS = 1000;

t.test(
  '[3.poll-average] whatever the pace: the average since the last poll, and a wait of 25 ms',
  async (t) => {
    for (const paceMs of [1500, 5300, 30_000, 300_000, 599_000]) {
      const { clock, host, ask, load } = setUp();
      await ask(DETAIL);
      let lastMs = clock.now();
      for (const share of PHASES) {
        const before = host.busyAt;
        const begunMs = lastMs;
        host.busyAt = (ms) => (ms < begunMs ? before(ms) : ms % DUTY_MS < share * DUTY_MS ? 1 : 0);
        await clock.advance(paceMs - 25);
        const { encoded, tookMs } = await ask(DETAIL);
        let busy = 0;
        for (let ms = begunMs; ms < clock.now(); ms++) busy += host.busyAt(ms);
        t.equal(
          load(encoded),
          Math.round((busy / (clock.now() - begunMs)) * 1000) / 10,
          `every ${paceMs} ms`,
        );
        t.equal(tookMs, 25, 'what the probers are given');
        const { extras, network, disks } = encoded.sample;
        t.equal(extras?.window_seconds, paceMs / 1000);
        t.equal(network?.detail?.send_rate, 1000);
        t.equal(disks?.detail?.[0]?.read_rate, 1000);
        lastMs = clock.now();
      }
    }
  },
);

t.test('[3.poll-average] pollers of different pace: since the last reading of anybody', async (t) => {
  const { clock, ask } = setUp();
  const windowOf = async () => (await ask(DETAIL)).encoded.sample.extras?.window_seconds;
  await ask(DETAIL);
  await clock.advance(30_000 - 25);
  t.equal(await windowOf(), 30);
  await clock.advance(5000 - 25);
  t.equal(await windowOf(), 5);
});

/** Asks `count` times, one request every `paceMs` whatever each takes, with `lateMs` of lateness in turn. */
async function pollEvery(
  { clock, sampler }: Pick<ReturnType<typeof setUp>, 'clock' | 'sampler'>,
  paceMs: number,
  count: number,
  lateMs: readonly number[] = [0],
): Promise<readonly Encoded[]> {
  const answers: Encoded[] = [];
  const begunAtMs = clock.now();
  for (let polls = 0; polls < count; polls++) {
    const late = lateMs[polls % lateMs.length] ?? 0;
    await clock.advance(begunAtMs + polls * paceMs + late - clock.now());
    void sampler.latest(DETAIL).then((answer) => answers.push(answer));
  }
  await clock.advance(paceMs);
  return answers;
}

t.test(
  '[3.usage-age] [3.poll-average] polls each second: a new sample each time, over that second',
  async (t) => {
    for (const lateMs of [[0], [20, 0], [0, 5, 40, 0, 80], [3, 2, 1, 0]]) {
      const set = setUp();
      // Another load in each tenth of a second, so that no two windows have the same.
      set.host.busyAt = (ms) => ((Math.floor(ms / 100) * 37) % 101) / 101;
      const answers = await pollEvery(set, 1000, 12, lateMs);
      t.equal(new Set(answers).size, 12, `with lateness of ${lateMs} ms`);
      const windows = answers.slice(1).map(({ sample }) => sample.extras?.window_seconds ?? 0);
      t.ok(
        windows.every((seconds) => seconds > 0.7 && seconds < 1.2),
        `over ${windows} s`,
      );
    }
  },
);

t.test('[3.usage-age] polls each second beside a stream get a new sample each time', async (t) => {
  for (const intervalSeconds of [1, 2, 3, 10])
    for (const offsetMs of [0, 130, 500, 870, 990]) {
      const set = setUp(intervalSeconds);
      await set.ask(DETAIL);
      set.sampler.subscribe(DETAIL);
      await set.clock.advance(3000 + offsetMs);
      const answers = await pollEvery(set, 1000, 12);
      t.equal(new Set(answers).size, 12, `${intervalSeconds} s, ${offsetMs} ms after a tick`);
    }
});

t.test('[3.usage-age] polls at a quicker pace share samples, whose windows do not grow', async (t) => {
  for (const paceMs of [90, 210, 450, 500, 650, 899, 950]) {
    const set = setUp();
    const answers = await pollEvery(set, paceMs, 40);
    const shared = new Set(answers);
    t.ok(shared.size <= (40 * paceMs) / 900 + 1, `every ${paceMs} ms: ${shared.size}`);
    const windows = [...shared].slice(1).map(({ sample }) => sample.extras?.window_seconds ?? 0);
    t.ok(Math.max(...windows) < 1.9, `over ${Math.max(...windows)} s`);
  }
});

t.test('[3.poll-average] requests of two views in turn, 0.5 s apart: no window grows', async (t) => {
  const { clock, ask } = setUp();
  const windows: number[] = [];
  for (let polls = 0; polls < 40; polls++) {
    const { encoded } = await ask(polls % 2 === 0 ? CPU : DETAIL);
    if (polls > 4 && polls % 2 === 1) windows.push(encoded.sample.extras?.window_seconds ?? 0);
    await clock.advance(470);
  }
  t.ok(Math.max(...windows) < 2, `over ${Math.max(...windows)} s`);
});

t.test('[3.poll-average] a reading younger than half a second is not compared with', async (t) => {
  const { clock, ask, sampler } = setUp();
  await ask(DETAIL);
  await clock.advance(10_000);
  await ask(CPU);
  await clock.advance(300);
  t.equal(sampler.peek(DETAIL), undefined, 'it has less than this one wants');
  const { encoded, tookMs } = await ask(DETAIL);
  t.equal(tookMs, 25);
  t.equal(encoded.sample.cpu?.detail?.current_load, 50);
  t.ok((encoded.sample.extras?.window_seconds ?? 0) > 10, 'but the one before it');
  await clock.advance(2000 - 25);
  const next = await ask(CPU);
  t.equal(next.tookMs, 25);
});

t.test(
  '[3.poll-average] a stream does not shorten the windows of polls, nor they those of its ticks',
  async (t) => {
    const { clock, host, sampler, samples, ask, load } = setUp(4);
    // Busy in the second after each tick only: 25 % of any whole interval.
    host.busyAt = (ms) => ((ms - 1225) % 4000 < 1000 ? 1 : 0);
    await ask(DETAIL);
    await clock.advance(25);
    sampler.subscribe(DETAIL);
    await clock.advance(2000 - 25);
    for (let polls = 0; polls < 5; polls++) {
      const { encoded } = await ask(DETAIL);
      if (polls > 0) {
        t.equal(encoded.sample.extras?.window_seconds, 8);
        t.equal(load(encoded), 25);
      }
      await clock.advance(8000 - 25);
    }
    t.equal(samples.length, 10);
    for (const { encoded } of samples.slice(1)) {
      t.equal(encoded.sample.extras?.window_seconds, 4);
      t.equal(load(encoded), 25);
    }
  },
);

t.test(
  'the first request beside ticks is compared with the last of them, and waits for nothing else',
  async (t) => {
    const { clock, sampler, ask } = setUp(4);
    sampler.subscribe(DETAIL);
    await clock.advance(10_000 - 25);
    const { encoded, tookMs } = await ask(DETAIL);
    t.equal(tookMs, 25);
    t.equal(encoded.sample.extras?.window_seconds, 2);
  },
);

t.test('the first tick is compared with the request before it', async (t) => {
  const { clock, sampler, samples, ask } = setUp();
  sampler.subscribe(DETAIL);
  await clock.advance(2000);
  t.equal(samples[0]?.encoded.sample.extras?.window_seconds, null, 'without one there is no window');
  sampler.unsubscribe(DETAIL);
  await clock.advance(60_000);
  await ask(DETAIL);
  sampler.subscribe(DETAIL);
  await clock.advance(2000);
  t.equal(samples[1]?.encoded.sample.extras?.window_seconds, 2);
});

t.test('[3.rates-null] a suspend between two polls: no rates, and the load of the time awake', async (t) => {
  const { clock, ask } = setUp();
  await ask(DETAIL);
  await clock.advance(5000);
  clock.suspend(3600_000);
  const { sample } = (await ask(DETAIL)).encoded;
  t.equal(sample.network?.detail?.send_rate, null);
  t.equal(sample.disks?.detail?.[0]?.read_rate, null);
  t.equal(sample.cpu?.detail?.current_load, 50);
  await clock.advance(5000);
  t.equal((await ask(DETAIL)).encoded.sample.network?.detail?.send_rate, 1000);
});

t.test(
  '[4.demand] polls leave no timer, and a reading of more than 10 minutes ago is not used',
  async (t) => {
    const { clock, host, ask } = setUp();
    await ask(ALL);
    t.equal(clock.timers, 0);
    await clock.advance(600_000);
    t.equal((await ask(ALL)).tookMs, 25);
    const reads = host.reads.length;
    await clock.advance(600_001);
    t.equal(host.reads.length, reads);
    t.equal((await ask(CPU)).tookMs, 200);
  },
);

t.test('no timer is left after the end, also of a request that is answered later', async (t) => {
  const { clock, sampler } = setUp();
  const late = sampler.latest(ALL);
  await clock.advance(100);
  sampler.close();
  await clock.advance(100);
  await late;
  t.equal(clock.timers, 0);
});

t.test('a request that needs no window and no prober is answered immediately', async (t) => {
  const { clock, ask } = setUp();
  for (let polls = 0; polls < 3; polls++) {
    t.equal((await ask(MEMORY)).tookMs, 0);
    await clock.advance(5300);
  }
});
