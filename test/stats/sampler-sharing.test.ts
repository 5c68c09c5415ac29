/** Requests of different views at the same time, or in turn, share the sampler's readings. */
import t from 'tap';
import { ALL_SECTIONS, SECTION_BITS } from '#src/host/host.js';
import { readSystem, type SystemDeps, sharedSystem } from '#src/machine/system.js';
import { ALL_DETAILS, DETAIL_BITS, type Needs } from '#src/stats/needs.js';
import { viewOf } from '#src/stats/view.js';
import { settle } from '../helpers/fakes/clock.ts';
import { ALL, CPU, DETAIL, MEMORY, setUp } from './sampler-setup.ts';

const { cpu, disks, gpu, memory, network } = SECTION_BITS;
const NETWORK = viewOf(network, false);

t.test('[3.usage-shared] one reading for all of a turn, and one for all who come meanwhile', async (t) => {
  const { clock, host, sampler, load } = setUp();
  host.busyAt = (ms) => (ms < 1000 ? 0 : 0.25);
  const begun = [sampler.latest(CPU), sampler.latest(MEMORY), sampler.latest(CPU)];
  await clock.advance(150);
  const joined = sampler.latest(MEMORY);
  const later = [sampler.latest(viewOf(cpu | network, false)), sampler.latest(viewOf(disks, false))];
  await clock.advance(50);
  const answers = await Promise.all([...begun, joined]);
  t.equal(new Set(answers).size, 1);
  t.equal(load(answers[0]), 25);
  await clock.advance(200);
  t.equal(new Set(await Promise.all(later)).size, 1);
  t.strictSame(
    host.reads.map(({ atMs, sections }) => [atMs, sections]),
    [
      [1000, cpu],
      [1200, cpu | memory],
      [1200, cpu | network | disks],
      [1400, cpu | memory | network | disks],
    ],
    'the second one has what the first one has, too',
  );
});

t.test('[3.usage-shared] detail for one view is detail for all sections of the reading', async (t) => {
  const { clock, host, sampler } = setUp();
  const plain = sampler.latest(ALL);
  const detailed = sampler.latest(viewOf(cpu, true));
  await clock.advance(200);
  t.equal(await plain, await detailed);
  t.equal(host.reads.length, 2);
  const { sample } = await detailed;
  t.equal(sample.disks?.detail?.[0]?.read_rate, 1000, 'it may answer a request for any of them');
  t.equal(sampler.peek(DETAIL), await detailed);
});

t.test('[3.usage-shared] a request waits for two readings at most', async (t) => {
  const { clock, sampler } = setUp();
  const answered: string[] = [];
  const ask = (name: string, view: typeof ALL) =>
    void sampler.latest(view).then(() => answered.push(`${name} ${clock.now()}`));
  ask('cpu', CPU);
  await clock.advance(10);
  ask('network', NETWORK);
  await clock.advance(180);
  ask('detail', DETAIL);
  await clock.advance(1000);
  t.strictSame(answered, ['cpu 1200', 'network 1400', 'detail 1400']);
});

t.test('[3.usage-shared] 1,000 requests for cpu and memory in turn: five readings a second', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  const startedAt = clock.now();
  for (let i = 0; i < 500; i++) {
    await ask(CPU);
    await ask(MEMORY);
    t.ok(sampler.peek(CPU), 'one costs the other no sample');
    await clock.advance(10);
  }
  const seconds = (clock.now() - startedAt) / 1000;
  t.ok(host.reads.length <= 5 * (seconds + 1), `${host.reads.length} readings in ${seconds} s`);
});

t.test('[3.usage-shared] views with windows in turn: the second one reads for both', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  await ask(CPU);
  await ask(NETWORK);
  t.equal(host.reads.at(-1)?.sections, cpu | network);
  await clock.advance(500);
  const reads = host.reads.length;
  await ask(CPU);
  await ask(NETWORK);
  t.equal(host.reads.length, reads);
  await clock.advance(500);
  await ask(CPU);
  t.equal(host.reads.at(-1)?.sections, cpu, 'what nobody has wanted for a second is not read');
  clock.suspend(60_000);
  await ask(NETWORK);
  t.equal(host.reads.at(-1)?.sections, network, 'nor what is from before a sleep');
  t.equal(sampler.peek(CPU), undefined);
});

t.test('[3.usage-shared] a host that fails fails all who wait, once', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  host.error = new Error('torn at once');
  await t.rejects(ask(ALL), { message: 'torn at once' });
  host.error = undefined;
  const waiting = [sampler.latest(CPU), sampler.latest(MEMORY)];
  await settle();
  host.error = new Error('torn');
  const late = sampler.latest(DETAIL);
  const outcomes = Promise.allSettled([...waiting, late]);
  await clock.advance(200);
  t.strictSame(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.equal(host.reads.length, 3, 'the two first readings, and the last one');
  host.error = undefined;
  t.ok((await ask(DETAIL)).encoded.sample.cpu?.detail, 'and the next request begins anew');
});

t.test('[3.system-needs] only what /api/system shows is read', async (t) => {
  const asked: number[] = [];
  const summaries = { ask: () => void asked.push(1), summary: () => null };
  const { clock, host, ask } = setUp(2, summaries);
  const source = { latest: async (needs: Needs) => (await ask(needs)).encoded };
  const facts = { version: '', pid: 1, startedAt: 0, node: '', platform: '' };
  // Further sources, which do not matter here.
  const nothing = { capabilities: () => ({}), capability: () => ({}) };
  const deps = {
    host,
    facts,
    source,
    power: nothing,
    media: nothing,
    processControl: nothing,
    wakeControl: nothing,
  };
  const show = (withDetail: boolean) => readSystem(deps as unknown as SystemDeps, withDetail);
  await show(false);
  t.match(host.reads, [{}, { sections: gpu | disks, withDetail: true, details: 0 }]);
  await clock.advance(5000);
  await show(true);
  t.match(host.reads.slice(2), [
    {},
    { sections: gpu | disks | network, withDetail: true, details: DETAIL_BITS.batteries },
  ]);
  t.equal(asked.length, 0, 'processes are not asked for');
  await clock.advance(5000);
  await ask(DETAIL);
  t.equal(asked.length, 1, 'with detail they are, once: not by both readings');
  t.match(host.reads.at(-1), { sections: ALL_SECTIONS, details: ALL_DETAILS });
  await clock.advance(1500);
  await show(true);
  await clock.advance(1500);
  const limits = (await ask(DETAIL)).encoded.sample.extras?.limits;
  t.equal(limits?.throttled_percent, 50, 'a reading without limits does not cost the next one its rate');
});

t.test('[3.system-needs] concurrent requests share a reading of the hardware', async (t) => {
  let reads = 0;
  const pending: ((error: Error) => void)[] = [];
  const host = {
    readSystem: () => {
      reads++;
      return new Promise((_, reject) => pending.push(reject));
    },
  };
  const deps = { host, source: { latest: async () => ({ sample: {} }) } };
  const show = sharedSystem(deps as unknown as SystemDeps); // It gets no further than the host.
  const asked = Array.from({ length: 64 }, () => show(false));
  t.equal(reads, 1);
  pending[0]?.(new Error('no thread is left'));
  for (const answer of asked) await t.rejects(answer, /no thread is left/);
  const again = show(false);
  t.equal(reads, 2, 'later ones read again');
  pending[1]?.(new Error('gone'));
  await t.rejects(again, /gone/);
});
