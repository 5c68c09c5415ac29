/**
 * A machine, its service and its users over hours or days, at random, on a clock of the test's own. Every answer of
 * the history is compared with the reference.
 */
import { type Config, DEFAULT_CONFIG } from '#src/config/config.js';
import { LiveConfig } from '#src/config/current.js';
import { RecordedHistory } from '#src/history/recorded.js';
import type { BatteryCounters } from '#src/host/details.js';
import { ALL_SECTIONS, type Counters, type Host, SECTION_BITS } from '#src/host/host.js';
import { Sampler } from '#src/stats/sampler.js';
import type { SampleSink, SlowDemand } from '#src/stats/source.js';
import { type View, viewOf } from '#src/stats/view.js';
import type { HistoryPayload } from '#src/wire/history.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { createRandom, type Random } from '../helpers/random.ts';
import { BATTERY, cpu, disk, gpu, link, memory, times } from '../stats/literals.ts';
import { Reference } from './reference.ts';

const HOUR_MS = 3_600_000;
const MINUTES = [1, 3, 10, 60, 240] as const;
const VIEWS = [
  viewOf(ALL_SECTIONS, false),
  viewOf(ALL_SECTIONS, true),
  viewOf(SECTION_BITS.cpu, false),
  viewOf(SECTION_BITS.network, false),
];

/** Values of float32 that are rounded for the wire. */
const isNear = (found: number | null | undefined, expected: number | null, step: number) =>
  found === expected ||
  (typeof found === 'number' &&
    expected !== null &&
    Math.abs(found - expected) <= step * 0.5001 + Math.abs(expected) * 2e-7);

/** Steps of the wire for the series that are compared. */
const STEPS: Readonly<Record<string, number>> = { 'bytes/s': 1, MiB: 0.1, '%': 0.01, '°C': 0.01 };

export class Life {
  readonly faults: string[] = [];
  /** Counts of what happened, by kind, so that a test can check that it was not idle. */
  readonly counts = { samples: 0, queries: 0, numbers: 0, restarts: 0, marks: 0 };
  readonly #random: Random;
  readonly #clock = new FakeClock();
  /** The clock of the machine is this far from the time since its start. */
  #offsetMs = 1_700_000_000_000;
  #isDischarging = false;
  #isTorn = false;
  #bytes = 0;
  #busyMs = 0;
  #load = 0.5;
  #readMs = 0;
  #config: Config = DEFAULT_CONFIG;
  #sampler: Sampler;
  #history: RecordedHistory;
  #reference: Reference;
  #subscribed: View[] = [];

  constructor(seed: number) {
    this.#random = createRandom(seed);
    ({ sampler: this.#sampler, history: this.#history, reference: this.#reference } = this.#begin());
  }

  async run(hours: number): Promise<void> {
    const endMs = this.#clock.now() + hours * HOUR_MS;
    while (this.#clock.now() < endMs && this.faults.length === 0) {
      this.#act();
      const isLong = this.#random.below(8) === 0;
      await this.#clock.advance(this.#random.below(isLong ? 2_400_000 : 90_000));
      await this.#compare();
    }
    await this.#history.close();
    this.#sampler.close();
  }

  get #unixMs(): number {
    return this.#offsetMs + this.#clock.sinceBoot();
  }

  #begin() {
    const config = new LiveConfig(this.#config);
    const reference = new Reference(this.#config.history.minutes);
    const host: Host = { ...fixtureHost(), readCounters: (...asked) => this.#read(...asked) };
    const log = { info: () => undefined, warn: () => undefined };
    const sampler = new Sampler({ host, clock: this.#clock, intervalSeconds: 2, hostname: 'box', log });
    const take = (sample: Parameters<Reference['take']>[0]) => {
      this.counts.samples++;
      const idleSeconds = config.current.history.idle_interval_seconds;
      reference.take(sample, Math.min(300, Math.ceil(Math.max(sampler.intervalMs / 1000, idleSeconds))));
    };
    // The reference is handed what the recorder is, and before it.
    const spied = {
      get intervalMs() {
        return sampler.intervalMs;
      },
      get nextTickInMs() {
        return sampler.nextTickInMs;
      },
      attach: (sink: SampleSink) =>
        sampler.attach({
          publish: (encoded) => {
            take(encoded.sample);
            sink.publish(encoded);
          },
        }),
      setSlow: (slow: SlowDemand | undefined, inMs?: number) =>
        sampler.setSlow(
          slow && {
            ...slow,
            publish: (encoded) => {
              take(encoded.sample);
              slow.publish(encoded);
            },
          },
          inMs,
        ),
    };
    const history = new RecordedHistory({
      sampler: spied,
      config,
      log,
      unixMs: () => this.#unixMs,
      version: '1',
      startedAt: this.#unixMs / 1000,
    });
    history.start();
    this.#reload = (part) => {
      this.#config = { ...this.#config, history: { ...this.#config.history, ...part } };
      config.replace(this.#config);
    };
    return { sampler, history, reference };
  }

  #reload: (part: Partial<Config['history']>) => void = () => undefined;

  #read: Host['readCounters'] = (sections, withDetail, _nextInMs, details = 0) => {
    if (this.#isTorn) throw new Error('torn');
    const [now, random] = [this.#clock.now(), this.#random];
    const spentMs = now - this.#readMs;
    this.#readMs = now;
    this.#load = Math.min(1, Math.max(0, this.#load + (random.below(100) - 50) / 200));
    this.#busyMs += spentMs * this.#load;
    this.#bytes += random.below(1e6) * spentMs;
    // An interface whose counters began again.
    if (random.below(200) === 0) this.#bytes = random.below(1000);
    const total = times({ user: this.#busyMs, idle: now - this.#busyMs });
    const io = { readBytes: this.#busyMs * 1000, writeBytes: 0, busyMs: 0 };
    const isKnown = random.below(20) > 0;
    const every: Partial<Counters> = {
      cpu: cpu(total, {
        temperatureCelsius: isKnown ? 40 + random.below(500) / 10 : null,
        ...(withDetail && { cores: [{ index: 0, ...total }] }),
      }),
      memory: isKnown ? memory({ totalBytes: 16e9, availableBytes: random.below(16) * 1e9 }) : null,
      gpu: random.below(3) > 0 ? [gpu({ loadPercent: random.below(100) })] : [],
      disks: [disk('/', withDetail ? { device: 'd', io } : {})],
      network: [link('eth0', { receivedBytes: this.#bytes })],
    };
    const wanted = Object.entries(SECTION_BITS).filter(([, bit]) => (sections & bit) !== 0);
    const battery: BatteryCounters = {
      ...BATTERY,
      state: this.#isDischarging ? 'discharging' : 'charging',
      percent: random.below(101),
    };
    return {
      takenAtNs: now * 1e6,
      sinceBootNs: this.#clock.sinceBoot() * 1e6,
      unixMs: this.#unixMs,
      ...(withDetail && (details & 2) !== 0 && { batteries: [battery] }),
      ...Object.fromEntries(wanted.map(([key]) => [key, every[key as keyof typeof SECTION_BITS]])), // Its keys.
    };
  };

  #act(): void {
    const random = this.#random;
    const acts: (() => void)[] = [
      () => this.#subscribe(),
      () => this.#subscribe(),
      () => this.#unsubscribe(),
      () => this.#unsubscribe(),
      () => this.#clock.suspend(random.pick([1000, 3000, 60_000, 8 * HOUR_MS])),
      () => {
        this.#offsetMs += random.pick([-400, 900, -5000, 5000, -90_000, 90_000, -2 * HOUR_MS, 2 * HOUR_MS]);
      },
      () => {
        this.#isDischarging = !this.#isDischarging;
      },
      () => {
        this.#isTorn = random.below(2) === 0;
      },
      () => this.#sampler.setInterval(random.pick([1, 1.5, 2, 7, 30])),
      () => this.#reload({ idle_interval_seconds: random.pick([0, 3, 10, 10, 10, 60]) }),
      () => this.#reload({ on_battery: random.below(2) === 0 }),
      () => {
        const minutes = random.pick(MINUTES);
        this.#reference.resize(minutes);
        this.#reload({ minutes });
      },
      () => this.#restart(),
    ];
    // Half of the time nothing changes.
    if (random.below(2) === 0) random.pick(acts)();
    this.#isTorn &&= random.below(3) > 0;
  }

  #subscribe(): void {
    if (this.#subscribed.length === 3) return;
    const view = this.#random.pick(VIEWS);
    this.#subscribed.push(view);
    this.#sampler.subscribe(view);
  }

  #unsubscribe(): void {
    const view = this.#subscribed.shift();
    if (view !== undefined) this.#sampler.unsubscribe(view);
  }

  /** Restarts the service: the history in memory is lost. */
  #restart(): void {
    this.counts.restarts++;
    void this.#history.close();
    this.#sampler.close();
    this.#subscribed = [];
    ({ sampler: this.#sampler, history: this.#history, reference: this.#reference } = this.#begin());
  }

  async #compare(): Promise<void> {
    const random = this.#random;
    const nowSeconds = this.#unixMs / 1000;
    const since = random.pick([-60, -290, -300, -900, -3600, -20_000, nowSeconds - random.below(3600)]);
    // 0: none is requested.
    const step = random.pick([0, 0, 1, 10, 30, 600, 7]) || undefined;
    const until = random.below(4) === 0 ? nowSeconds - random.below(600) : undefined;
    const answer = await this.#history.query({ series: ['*'], since, until, step });
    if (answer === 'too_many') return;
    this.counts.queries++;
    for (const name of this.#reference.series.keys()) this.#compareSeries(name, answer);
    const { start, step: length, count } = answer;
    const expected = this.#reference.marks
      .filter(({ at }) => at >= start && at < start + length * count)
      .map(({ at, kind, seconds }) => `${kind} ${at} ${Math.round(seconds * 10) / 10}`);
    const found = answer.marks
      .filter(({ kind }) => kind !== 'start')
      .map(({ kind, at, seconds }) => `${kind} ${at} ${seconds}`);
    this.counts.marks += found.length;
    if (found.join() !== expected.join())
      this.faults.push(`marks: ${found.join()} instead of ${expected.join()}`);
  }

  #compareSeries(name: string, { start, step, count, series }: HistoryPayload): void {
    const columns = series[name];
    const roundedTo = STEPS[columns?.unit ?? ''] ?? 0.001;
    for (let at = 0; at < count; at++) {
      const from = start + at * step;
      const expected =
        step === 1
          ? { mean: this.#reference.fine(name, from) }
          : this.#reference.coarse(name, from / 10, (from + step) / 10);
      for (const [key, value] of Object.entries(expected)) {
        const found = columns?.[key as keyof typeof expected]?.[at] ?? null; // The keys are those of a column.
        if (value !== null) this.counts.numbers++;
        if (isNear(found, value, roundedTo)) continue;
        this.faults.push(`${key} of ${name} at ${from} (step ${step}): ${found} instead of ${value}`);
        return;
      }
    }
  }
}
