/** The first samples after a start: no request is answered with a reading without a window or without probers' answers. */
import t from 'tap';
import { ALL_SECTIONS } from '#src/host/host.js';
import { DETAIL_BITS, type Needs } from '#src/stats/needs.js';
import type { Encoded } from '#src/stats/view.js';
import { settle } from '../helpers/fakes/clock.ts';
import { ALL, CPU, DETAIL, MEMORY, setUp } from './sampler-setup.ts';

const HISTORY: Needs = { sections: ALL_SECTIONS, withDetail: true, details: DETAIL_BITS.limits };

/** A sampler with the history's demand, as the service starts it: every 10 s, first after a second. */
function setUpService(answerMs: number) {
  const set = setUp();
  set.host.answerMs = answerMs;
  const own: Encoded[] = [];
  const publish = (encoded: Encoded) => void own.push(encoded);
  const slow = { needs: HISTORY, intervalMs: 10_000, nextInMs: () => 10_000, publish };
  set.sampler.setSlow(slow, 1000);
  return { ...set, own };
}

function faultsOf({ sample }: Encoded): readonly string[] {
  const { cpu, disks, network } = sample;
  return [
    ...(cpu?.stats.current_load === 50 ? [] : [`load ${cpu?.stats.current_load}`]),
    ...(cpu?.stats.current_speed === 3 ? [] : [`speed ${cpu?.stats.current_speed}`]),
    ...(disks === undefined || disks.stats.length === 1 ? [] : ['no disks']),
    ...(network?.detail === undefined || network.detail.send_rate === 1000 ? [] : ['no rate']),
    ...(cpu?.detail === undefined || cpu.detail.cores[0] === 50 ? [] : ['no load of cores']),
  ];
}

for (const answerMs of [0, 5, 90, 300])
  t.test(
    `[3.first-load] whenever the first request comes, with probers that take ${answerMs} ms`,
    async (t) => {
      for (const view of [ALL, DETAIL, CPU])
        for (let atMs = 0; atMs <= 2800; atMs += 140) {
          const { clock, ask } = setUpService(answerMs);
          await clock.advance(atMs);
          const { encoded, tookMs } = await ask(view);
          t.strictSame(faultsOf(encoded), [], `view ${view.index} after ${atMs} ms`);
          if (tookMs > 700) t.fail(`the answer took ${tookMs} ms`);
        }
    },
  );

t.test(
  '[3.first-load] a client that polls repeatedly from the start on sees no reading without a window',
  async (t) => {
    for (const paceMs of [70, 100, 330]) {
      const { clock, ask } = setUpService(5);
      for (let polls = 0; polls < 40; polls++) {
        const { encoded } = await ask(polls % 3 === 0 ? DETAIL : ALL);
        t.strictSame(faultsOf(encoded), [], `poll ${polls} every ${paceMs} ms`);
        await clock.advance(paceMs);
      }
    }
  },
);

t.test(
  '[3.first-load] the first sample of the history has a window and the answers of probers',
  async (t) => {
    for (const answerMs of [0, 5, 90, 300]) {
      const { clock, host, own } = setUpService(answerMs);
      await clock.advance(2000);
      const [first] = own;
      t.ok(first !== undefined, `with probers that take ${answerMs} ms`);
      t.strictSame(first && faultsOf(first), []);
      t.equal(host.reads.at(-1)?.nextInMs, 10_000, 'and the probers are asked shortly before the next');
    }
  },
);

t.test(
  '[3.first-load] the first of two readings that subscribers are sent is not for requests',
  async (t) => {
    const { clock, sampler, samples, ask } = setUp();
    sampler.subscribe(ALL);
    await clock.advance(2100);
    t.equal(
      samples[0]?.encoded.sample.cpu?.stats.current_load,
      0,
      'a subscriber who asks for no first sample',
    );
    const { encoded, tookMs } = await ask(ALL);
    t.strictSame(faultsOf(encoded), []);
    t.equal(tookMs, 100, 'it is compared with that reading');
    await clock.advance(2000);
    t.equal((await ask(ALL)).encoded, samples[1]?.encoded, 'the second one has a window');
  },
);

t.test('[3.first-load] a question that is never answered is waited for a second, once', async (t) => {
  const { clock, host, ask } = setUp();
  host.answerMs = Number.POSITIVE_INFINITY;
  const memory = await ask(MEMORY);
  t.equal(memory.tookMs, 0, 'what asks no prober waits for none');
  const first = await ask(ALL);
  t.equal(first.tookMs, 1000);
  t.equal(first.encoded.sample.cpu?.stats.current_load, 50);
  t.strictSame(first.encoded.sample.disks?.stats, []);
  await clock.advance(1000);
  t.equal((await ask(ALL)).tookMs, 25);
  t.equal((await ask(DETAIL)).tookMs, 1000, 'detail has probers of its own');
  await clock.advance(1000);
  t.equal((await ask(DETAIL)).tookMs, 25);
});

t.test('[3.first-load] a request that joins while answers are awaited waits with the others', async (t) => {
  const { clock, host, sampler } = setUp();
  host.answerMs = 500;
  const begun = sampler.latest(ALL);
  await clock.advance(450);
  const joined = sampler.latest(CPU);
  await settle();
  await clock.advance(500);
  t.equal(await joined, await begun);
  t.strictSame(faultsOf(await begun), []);
});

t.test('a reading of another kind does not put off the round that a request waits for', async (t) => {
  const { clock, host, sampler } = setUpService(5);
  await clock.advance(950);
  const asked = sampler.latest(ALL);
  await clock.advance(60);
  t.ok(
    host.reads.every(({ nextInMs }) => nextInMs <= 200),
    'each says when the next one really is',
  );
  await clock.advance(500);
  t.strictSame(faultsOf(await asked), []);
});
