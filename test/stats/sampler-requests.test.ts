/** The sampler's answers to requests, alone and between ticks. */
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { type Encoded, viewOf } from '#src/stats/view.js';
import { link } from './literals.ts';
import { ALL, CPU, DETAIL, setUp } from './sampler-setup.ts';

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
  t.equal(first.encoded.sample.extras, undefined);
  await clock.advance(600_001);
  host.busyAt = (ms) => (ms < 601_201 ? 0 : 1);
  const late = await ask(DETAIL);
  t.equal(load(late.encoded), 100, 'the reading of more than 10 minutes ago is not compared with');
  t.equal(late.tookMs, 200);
  t.equal(late.encoded.sample.extras?.window_seconds, 0.2, 'and detail says so');
});

t.test('[3.usage-age] a sample of the last 0.9 s answers immediately, and without a reading', async (t) => {
  const { clock, host, sampler, ask } = setUp();
  const { encoded, tookMs } = await ask(ALL);
  await clock.advance(899 - tookMs);
  const reads = host.reads.length;
  t.equal(sampler.peek(ALL), encoded);
  t.equal((await ask(CPU)).encoded, encoded, 'it has what the smaller view needs');
  t.equal(host.reads.length, reads);
  t.equal(sampler.peek(DETAIL), undefined, 'it has no detail');
  await clock.advance(1);
  t.equal(sampler.peek(ALL), undefined);
  t.not((await ask(ALL)).encoded, encoded);
});

t.test('[3.usage-resume] a sample from before a sleep is not handed out after it', async (t) => {
  const { clock, sampler, ask } = setUp();
  const { encoded } = await ask(ALL);
  await clock.advance(100);
  t.equal(sampler.peek(ALL), encoded, 'it is young');
  // The clock that timers run by stands still during a suspend.
  clock.suspend(8 * 3600_000);
  t.equal(sampler.peek(ALL), undefined);
  const after = await ask(ALL);
  t.not(after.encoded, encoded);
  t.equal(after.encoded.sample.uptime, Math.floor(clock.sinceBoot() / 1000), 'it was taken after the sleep');
  t.equal(sampler.peek(ALL), after.encoded);
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

t.test('a first request for detail beside ticks without: rates immediately', async (t) => {
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
    host.change = { network: [link('eth0', { sentBytes: bytes })] };
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
