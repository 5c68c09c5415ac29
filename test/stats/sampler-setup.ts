/** A sampler over a clock and a host of the test's own. */
import { ALL_SECTIONS, type Counters, type Host, SECTION_BITS } from '#src/host/host.js';
import { ALL_DETAILS, DETAIL_BITS, type Needs } from '#src/stats/needs.js';
import type { ProcessSummaries } from '#src/stats/sample-reader.js';
import { Sampler } from '#src/stats/sampler.js';
import { type Encoded, viewOf } from '#src/stats/view.js';
import { FakeClock, settle } from '../helpers/fakes/clock.ts';
import { SYSTEM } from '../helpers/fakes/host.ts';
import { cpu, disk, link, memory, times } from './literals.ts';

export const ALL = viewOf(ALL_SECTIONS, false);
export const CPU = viewOf(SECTION_BITS.cpu, false);
export const MEMORY = viewOf(SECTION_BITS.memory, false);
export const DETAIL = viewOf(ALL_SECTIONS, true);

interface Read {
  readonly atMs: number;
  readonly sections: number;
  readonly withDetail: boolean;
  readonly nextInMs: number;
  readonly details: number | undefined;
}

/** How long before a reading its probers are asked, as in the addon. */
const PROBE_LEAD_MS = 100;

/**
 * A machine whose processor is as busy as `busyAt` says at each millisecond, and whose interface sends a thousand
 * bytes per second.
 */
class TestHost {
  readonly reads: Read[] = [];
  readonly #clock: FakeClock;
  busyAt: (ms: number) => number = () => 0.5;
  change: Partial<Counters> = {};
  error: Error | undefined;
  /** How long the probers of speed and disks take for an answer; they know nothing before. */
  answerMs = 0;
  #roundAtMs = Number.POSITIVE_INFINITY;
  #haveAnswered = false;
  readSystem = () => Promise.resolve(SYSTEM);
  readBroadcastAddresses = () => Promise.resolve([]);
  readWakeOnLan = () => Promise.resolve([]);
  readMetrics = () => Promise.resolve(Buffer.alloc(0));
  sinceBootMs = () => this.#clock.sinceBoot();
  tuneListener = () => 1;
  descriptorLimit = () => 1000;
  openDescriptors = () => undefined;
  trimHeap = () => Promise.resolve();
  readConnections = () => Promise.resolve([]);

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  readCounters: Host['readCounters'] = (sections, withDetail, nextInMs, details) => {
    const now = this.#clock.now();
    this.reads.push({ atMs: now, sections, withDetail, nextInMs, details });
    if (this.error !== undefined) throw this.error;
    this.#haveAnswered ||= this.answerMs === 0 || this.#roundAtMs + this.answerMs <= now;
    const awaitsAnswers = !this.#haveAnswered;
    // A round that has begun is not replaced by a later one.
    if (this.#roundAtMs > now) this.#roundAtMs = now + Math.max(0, nextInMs - PROBE_LEAD_MS);
    let user = 0;
    for (let ms = 0; ms < now; ms++) user += this.busyAt(ms);
    const total = times({ user, idle: now - user });
    const every: Partial<Counters> = {
      cpu: cpu(total, {
        ...(withDetail && { cores: [{ index: 0, ...total }] }),
        speedHz: awaitsAnswers ? null : 3e9,
      }),
      memory: memory(),
      gpu: [],
      disks: awaitsAnswers
        ? []
        : [disk('/', withDetail ? { device: 'd', io: { readBytes: now, writeBytes: 0, busyMs: 0 } } : {})],
      network: [link('eth0', { sentBytes: now })],
      ...this.change,
    };
    const keys = { cpu: 1, memory: 2, gpu: 4, disks: 8, network: 16, failures: 31 };
    const hasDetail = (bit: number) => withDetail && ((details ?? ALL_DETAILS) & bit) !== 0;
    const hasLimits = hasDetail(DETAIL_BITS.limits);
    const { batteries, sensors, drives } = this.change;
    const throttling = { group: '/', periods: now, throttledPeriods: now / 2 };
    const wanted = Object.entries(keys).filter(([, bit]) => (sections & bit) !== 0);
    return {
      takenAtNs: now * 1e6,
      sinceBootNs: this.#clock.sinceBoot() * 1e6,
      unixMs: 1e12 + this.#clock.sinceBoot(),
      ...(awaitsAnswers && { awaitsAnswers }),
      ...(hasLimits && {
        limits: { memoryBytes: null, memoryUsedBytes: null, cpus: 1, throttling, failure: null },
      }),
      ...(batteries && hasDetail(DETAIL_BITS.batteries) && { batteries }),
      ...(sensors && hasDetail(DETAIL_BITS.sensors) && { sensors }),
      ...(drives && hasDetail(DETAIL_BITS.drives) && { drives }),
      ...Object.fromEntries(wanted.map(([key]) => [key, every[key as keyof typeof keys]])), // Keys of `keys`.
    };
  };
}

export function setUp(intervalSeconds = 2, processes?: ProcessSummaries) {
  const clock = new FakeClock();
  const host = new TestHost(clock);
  const samples: { readonly atMs: number; readonly encoded: Encoded }[] = [];
  const logged: string[] = [];
  const sampler = new Sampler({
    host,
    clock,
    intervalSeconds,
    hostname: 'box',
    processes,
    log: {
      info: (text) => logged.push(text.replace(/ can be read again$/, ': back')),
      warn: (text) => logged.push(text.replace(' cannot be read', '')),
    },
  });
  sampler.attach({ publish: (encoded) => samples.push({ atMs: clock.now(), encoded }) });
  const load = (encoded: Encoded | undefined) => encoded?.sample.cpu?.stats.current_load;
  /** Asks, and lets the clock run until the answer is there; resolves with the answer and the time it took. */
  const ask = async (view: Needs) => {
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
  return { clock, host, sampler, samples, logged, load, ask, sampleTimes: times_ };
}
