/** The sampler under random requests, subscriptions, sleeps and failures, on a clock of the test's own. */
import t from 'tap';
import { SECTION_BITS, SECTIONS } from '#src/host/host.js';
import { keysOf, type Needs } from '#src/stats/needs.js';
import { SYSTEM_DETAIL_NEEDS, SYSTEM_NEEDS } from '#src/stats/system.js';
import { type Encoded, VIEW_COUNT, type View, viewAt } from '#src/stats/view.js';
import { createRandom } from '../helpers/random.ts';
import { link } from './literals.ts';
import { setUp } from './sampler-setup.ts';

const INTERVAL_MS = 2000;
const STEPS = 400;
const LIVES = 20;
/** Twice the longest wait: one reading may have to be over before the next can be joined. */
const MAX_WAIT_MS = 800;
/** Two readings for each of the few steps in which needs can grow within a second. */
const MAX_READINGS_PER_SECOND = 24;

type SetUp = ReturnType<typeof setUp>;

/**
 * The square of the time as bytes and the time as wall clock: a sample then says when its readings were taken. Returns
 * the times of those that did not fail.
 */
function timeReadings({ clock, host }: SetUp): readonly number[] {
  const timesMs: number[] = [];
  const read = host.readCounters;
  host.readCounters = (...asked) => {
    host.change = { network: [link('eth0', { sentBytes: clock.now() ** 2 })] };
    const counters = { ...read(...asked), unixMs: 1000 * clock.sinceBoot() };
    timesMs.push(clock.now());
    return counters;
  };
  return timesMs;
}

/** When the earlier of a sample's two readings was taken; undefined without a rate. */
function beganAt({ sample }: Encoded, endedAtMs: number): number | undefined {
  const rate = sample.network?.detail?.send_rate ?? undefined;
  return rate === undefined ? undefined : Math.round(rate / 1000 - endedAtMs);
}

/** Returns the fault in `answer` for a client that asked for `needs`. */
function faultOf(answer: Encoded, needs: Needs, { clock, samples }: SetUp, sleptAtMs: number) {
  const { sample } = answer;
  const ageMs = clock.sinceBoot() - sample.timestamp;
  if (ageMs < 0 || ageMs >= 1000) return `is ${ageMs} ms old`;
  for (const section of SECTIONS) {
    if ((needs.sections & SECTION_BITS[section]) === 0) continue;
    if (sample[section] === undefined) return `has no ${section}`;
    if (needs.withDetail && sample[section].detail === undefined) return `has no detail of ${section}`;
  }
  if (needs.withDetail && sample.extras === undefined) return 'has no details';
  const isTick = samples.some(({ encoded }) => encoded === answer);
  if (isTick || sample.network?.detail === undefined) return undefined;
  const takenAtMs = clock.now() - ageMs;
  const windowMs = takenAtMs - (beganAt(answer, takenAtMs) ?? (sleptAtMs > 0 ? 0 : takenAtMs));
  return windowMs < 200 ? `is over ${windowMs} ms` : undefined;
}

class Life {
  readonly errors: string[] = [];
  readonly #set = setUp(INTERVAL_MS / 1000);
  readonly #random;
  readonly #readAtMs: readonly number[];
  #open = 0;
  #sleptAtMs = 0;
  readonly #subscribed: View[] = [];

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.#readAtMs = timeReadings(this.#set);
  }

  async run(): Promise<void> {
    const { clock } = this.#set;
    for (let step = 0; step < STEPS; step++) {
      this.#act();
      const isPause = this.#random.below(20) === 0;
      await clock.advance(this.#random.below(isPause ? 3000 : 60));
    }
    this.#set.host.error = undefined;
    await clock.advance(MAX_WAIT_MS);
    if (this.#open > 0) this.errors.push(`${this.#open} requests are not answered`);
    this.#judgeReadings();
  }

  #act(): void {
    const { clock, host, sampler } = this.#set;
    const what = this.#random.below(100);
    if (what < 4 && this.#subscribed.length < 3) {
      const view = this.#anyView();
      this.#subscribed.push(view);
      sampler.subscribe(view);
    } else if (what < 8) {
      const view = this.#subscribed.shift();
      if (view !== undefined) sampler.unsubscribe(view);
    } else if (what < 9) {
      clock.suspend(60_000);
      this.#sleptAtMs = clock.now();
    } else if (what < 11) {
      host.error = host.error === undefined ? new Error('torn') : undefined;
    } else {
      const needs = this.#random.pick([this.#anyView(), this.#anyView(), SYSTEM_NEEDS, SYSTEM_DETAIL_NEEDS]);
      for (let count = this.#random.below(4); count >= 0; count--) this.#ask(needs);
    }
  }

  #anyView = () => viewAt(this.#random.below(VIEW_COUNT));

  #ask(needs: Needs): void {
    const { clock, sampler } = this.#set;
    const askedAtMs = clock.now();
    const judge = (fault: string | undefined) => {
      this.#open--;
      const tookMs = clock.now() - askedAtMs;
      if (tookMs > MAX_WAIT_MS) this.errors.push(`an answer took ${tookMs} ms`);
      if (fault !== undefined) this.errors.push(`at ${clock.now()} the answer to ${keysOf(needs)} ${fault}`);
    };
    this.#open++;
    sampler.latest(needs).then(
      (answer) => judge(faultOf(answer, needs, this.#set, this.#sleptAtMs)),
      (error) => judge(error.message === 'torn' ? undefined : error.message),
    );
  }

  #judgeReadings(): void {
    for (const [first, atMs] of this.#readAtMs.entries()) {
      const ms = (this.#readAtMs[first + MAX_READINGS_PER_SECOND] ?? Number.POSITIVE_INFINITY) - atMs;
      if (ms < 1000) this.errors.push(`${MAX_READINGS_PER_SECOND} readings in ${ms} ms`);
    }
  }
}

t.test('[3.usage-shared] each answer is fresh, complete, over 200 ms, and soon there', async (t) => {
  for (let seed = 1; seed <= LIVES; seed++) {
    const life = new Life(seed);
    await life.run();
    t.strictSame(life.errors.slice(0, 3), [], `seed ${seed}`);
  }
});

t.test('[4.interval] whatever is requested between them, ticks are over exactly one interval', async (t) => {
  const set = setUp(INTERVAL_MS / 1000);
  timeReadings(set);
  const { clock, sampler, samples } = set;
  const random = createRandom(7);
  sampler.subscribe(viewAt(VIEW_COUNT - 1));
  while (samples.length < 50) {
    void sampler.latest(viewAt(random.below(VIEW_COUNT)));
    await clock.advance(random.below(100));
  }
  const windows = samples.slice(1).map(({ atMs, encoded }) => atMs - (beganAt(encoded, atMs) ?? 0));
  t.strictSame([...new Set(windows)], [INTERVAL_MS]);
  t.strictSame([...new Set(samples.map(({ atMs }) => (atMs - 1000) % INTERVAL_MS))], [0]);
});
