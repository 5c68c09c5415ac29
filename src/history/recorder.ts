/** Records the samples of the sampler's ticks, and asks for some of its own while nobody listens. */
import type { CurrentConfig } from '../config/current.ts';
import { ALL_SECTIONS } from '../host/host.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import { ALL_DETAILS, DETAIL_BITS, type Needs } from '../stats/needs.ts';
import type { Sample } from '../stats/sample.ts';
import type { Sampler } from '../stats/sampler.ts';
import type { SampleSink, SlowDemand } from '../stats/source.ts';
import type { Encoded } from '../stats/view.ts';
import type { HistoryMark } from '../wire/history.ts';
import { type Clocks, marksBetween } from './gaps.ts';
import { FINE_SECONDS, type SeriesPoint, SLOT_SECONDS, type Slot } from './history.ts';
import { MAX_SERIES, Memory } from './memory.ts';
import { pointsOf } from './series.ts';

export interface RecorderOptions {
  readonly sampler: Pick<Sampler, 'attach' | 'setSlow' | 'intervalMs' | 'nextTickInMs'>;
  readonly config: CurrentConfig;
  readonly log: Pick<Log, 'warn'>;
}

/** Neither processes, which are read where they are shown, nor drives, whose health changes in days. */
const RECORDED: Needs = {
  sections: ALL_SECTIONS,
  withDetail: true,
  details: ALL_DETAILS & ~(DETAIL_BITS.processes | DETAIL_BITS.drives),
};
/** On battery only this is read, to notice its end. */
const BATTERIES: Needs = { sections: 0, withDetail: true, details: DETAIL_BITS.batteries };
const BATTERIES_MS = 60_000;
/** Of the first reading of its own: what the service does at its start has passed. */
const FIRST_MS = 1000;
const MAX_MARKS = 256;

const isOnBattery = ({ counters }: Sample) =>
  counters.batteries?.some(({ state }) => state === 'discharging') ?? false;

/** From `unixMs` to the next middle of a slot that is at least half an interval away: each slot then gets a reading. */
export function untilMiddleMs(unixMs: number, intervalMs: number): number {
  const phaseMs = Math.min(intervalMs, SLOT_SECONDS * 1000) / 2;
  const restMs = intervalMs - ((unixMs - phaseMs) % intervalMs);
  return restMs < intervalMs / 2 ? restMs + intervalMs : restMs;
}

export class Recorder implements SampleSink {
  readonly #options: RecorderOptions;
  #memory: Memory | undefined;
  #marks: HistoryMark[] = [];
  #detach: (() => void) | undefined;
  #minutes = 0;
  #idleMs = 0;
  /** On battery without subscribers. */
  #isResting = false;
  #before: Clocks | undefined;
  #network: Sample | undefined;
  #hasRefused = false;
  /** Of each sample: its Unix time in seconds, and its points. */
  readonly pointsListeners = new Listeners<[at: number, points: readonly SeriesPoint[]]>();
  /** Of each slot that is over, without its processes. */
  readonly slotListeners = new Listeners<[slot: Omit<Slot, 'processes'>]>();
  readonly markListeners = new Listeners<[mark: HistoryMark]>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** undefined while `history.minutes` is 0. */
  get memory(): Memory | undefined {
    return this.#memory;
  }

  /** In order. */
  get marks(): readonly HistoryMark[] {
    return this.#marks;
  }

  /** Follows the configuration. */
  reconfigure(): void {
    const { minutes, idle_interval_seconds, on_battery } = this.#options.config.current.history;
    if (minutes === 0) {
      this.close();
      return;
    }
    if (this.#memory === undefined) {
      this.#memory = new Memory(minutes);
      this.#detach = this.#options.sampler.attach(this);
    } else if (minutes !== this.#minutes) this.#memory.resize(minutes);
    this.#minutes = minutes;
    const idleMs = idle_interval_seconds * 1000;
    if (idleMs === this.#idleMs && !(this.#isResting && on_battery)) return;
    this.#idleMs = idleMs;
    this.#demand(false, Math.min(FIRST_MS, idleMs));
  }

  /** Records nothing more, hands on the slot that is being filled, and forgets what it has. */
  close(): void {
    const unfinished = this.#memory?.advance(Number.POSITIVE_INFINITY);
    if (unfinished !== undefined) this.slotListeners.notify(unfinished);
    this.#detach?.();
    this.#detach = undefined;
    this.#memory = undefined;
    this.#marks = [];
    this.#before = undefined;
    this.#network = undefined;
    this.#idleMs = 0;
    this.#demand(false, 0);
  }

  mark(mark: HistoryMark): void {
    this.#marks = [...this.#marks.filter(({ at }) => at <= mark.at), mark].slice(-MAX_MARKS);
    this.markListeners.notify(mark);
  }

  /** The sample of a tick. */
  publish(encoded: Encoded): void {
    if (this.#isResting) this.#demand(false, this.#idleMs);
    this.#take(encoded.sample);
  }

  /** The sample of a reading of its own. */
  #publishOwn(sample: Sample): void {
    const { sampler, config } = this.#options;
    const rests =
      !config.current.history.on_battery &&
      sampler.nextTickInMs === Number.POSITIVE_INFINITY &&
      isOnBattery(sample);
    if (rests !== this.#isResting) this.#demand(rests, rests ? BATTERIES_MS : FIRST_MS);
    this.#take(sample);
  }

  #demand(rests: boolean, inMs: number): void {
    this.#isResting = rests && this.#idleMs > 0;
    const intervalMs = rests ? Math.max(BATTERIES_MS, this.#idleMs) : this.#idleMs;
    const slow: SlowDemand = {
      needs: rests ? BATTERIES : RECORDED,
      intervalMs,
      nextInMs: (unixMs) => untilMiddleMs(unixMs, intervalMs),
      publish: ({ sample }) => this.#publishOwn(sample),
    };
    this.#options.sampler.setSlow(this.#idleMs > 0 ? slow : undefined, inMs);
  }

  #take(sample: Sample): void {
    const memory = this.#memory;
    if (memory === undefined) return;
    const { counters } = sample;
    const at = counters.unixMs / 1000;
    const marks = this.#before === undefined ? [] : marksBetween(this.#before, counters);
    const continues = this.#before !== undefined && marks.length === 0;
    for (const mark of marks) {
      if (mark.kind === 'clock' && mark.seconds !== null && mark.seconds < 0) memory.dropFrom(at);
      this.mark(mark);
    }
    const ended = memory.advance(at);
    if (ended !== undefined) this.slotListeners.notify(ended);
    const points = pointsOf(sample, this.#network);
    const refused = memory.add(at, continues ? this.#heldSeconds : 0, points);
    if (refused > 0 && !this.#hasRefused) {
      this.#hasRefused = true;
      this.#options.log.warn(
        `the history keeps ${MAX_SERIES} series and no more: ${refused} of a reading are left out`,
      );
    }
    this.#before = counters;
    if (sample.network !== undefined) this.#network = sample;
    this.pointsListeners.notify(at, points);
  }

  /** How long a value holds for: from one reading to the next, and a second in which a reading may be late. */
  get #heldSeconds(): number {
    const intervalMs = Math.max(this.#options.sampler.intervalMs, this.#idleMs);
    return Math.min(FINE_SECONDS, Math.ceil(intervalMs / 1000));
  }
}
