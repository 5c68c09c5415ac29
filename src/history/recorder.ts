/** Records the samples of the sampler's ticks, and requests its own without subscribers. */
import type { CurrentConfig } from '../config/current.ts';
import { PLACES, REMEMBERED } from '../fairness/limits.ts';
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
import { Memory } from './memory.ts';
import { pointsOf } from './series.ts';

export interface RecorderOptions {
  readonly sampler: Pick<Sampler, 'attach' | 'setSlow' | 'intervalMs' | 'nextTickInMs'>;
  readonly config: CurrentConfig;
  readonly log: Pick<Log, 'warn'>;
}

/** Excludes processes, which are read where they are shown, and drives. */
const RECORDED: Needs = {
  sections: ALL_SECTIONS,
  withDetail: true,
  details: ALL_DETAILS & ~(DETAIL_BITS.processes | DETAIL_BITS.drives),
};
/** The health of drives changes over days, and each question takes them from other work. */
const WITH_DRIVES: Needs = { ...RECORDED, details: RECORDED.details | DETAIL_BITS.drives };
const DRIVES_NS = 600e9;
/** On battery only this is read, to notice its end. */
const BATTERIES: Needs = { sections: 0, withDetail: true, details: DETAIL_BITS.batteries };
const BATTERIES_MS = 60_000;
/** Delay of its own first reading: the service's work at its start is over then. */
const FIRST_MS = 1000;

const isOnBattery = ({ counters }: Sample) =>
  counters.batteries?.some(({ state }) => state === 'discharging') ?? false;

/** Whether it was read with all that RECORDED has. */
function isWhole({ counters, cpu }: Sample): boolean {
  const { cpu: load, memory, gpu, disks, network, sensors, batteries } = counters;
  const parts = [cpu?.detail, load, memory, gpu, disks, network, sensors, batteries];
  return parts.every((part) => part !== undefined);
}

/** Returns the time to the next middle of a slot at least half an interval away: each slot then gets a reading. */
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
  /** True on battery without subscribers. */
  #isResting = false;
  #before: Clocks | undefined;
  #network: Sample | undefined;
  #hasRefused = false;
  /** The values of drives in the last reading that had them. */
  #drives: readonly SeriesPoint[] = [];
  /** Its time awake, at first that of the first reading: the start has enough to do. */
  #drivesAtNs: number | undefined;
  /** Recorded with each sample: they are found in the history itself. */
  derived: readonly SeriesPoint[] = [];
  /** Called for each sample: its Unix time in seconds, its points, and whether these are all that is recorded. */
  readonly pointsListeners = new Listeners<[at: number, points: readonly SeriesPoint[], isWhole: boolean]>();
  /** Called for each slot that has ended, without its processes. */
  readonly slotListeners = new Listeners<[slot: Omit<Slot, 'processes'>]>();
  readonly markListeners = new Listeners<[mark: HistoryMark]>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** undefined while `history.minutes` is 0. */
  get memory(): Memory | undefined {
    return this.#memory;
  }

  /** Returns the marks in order. */
  get marks(): readonly HistoryMark[] {
    return this.#marks;
  }

  /** Applies the configuration. */
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

  /** Stops recording, passes on the slot that is being filled, and forgets all values. */
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
    this.#marks = [...this.#marks.filter(({ at }) => at <= mark.at), mark].slice(-REMEMBERED.marks);
    this.markListeners.notify(mark);
  }

  /** Handles the sample of a tick. */
  publish(encoded: Encoded): void {
    if (this.#isResting) this.#demand(false, this.#idleMs);
    this.#take(encoded.sample);
  }

  /** Handles the sample of its own reading. */
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
    const needs = () => {
      if (rests) return BATTERIES;
      const now = this.#before?.takenAtNs ?? 0;
      return now - (this.#drivesAtNs ?? now) >= DRIVES_NS ? WITH_DRIVES : RECORDED;
    };
    const slow: SlowDemand = {
      get needs() {
        return needs();
      },
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
    const read = pointsOf(sample, this.#network);
    const points = [...read, ...this.derived];
    const refused = memory.add(at, continues ? this.#heldSeconds : 0, points);
    if (refused > 0 && !this.#hasRefused) {
      this.#hasRefused = true;
      this.#options.log.warn(
        `the history is limited to ${PLACES.series.max} series; ${refused} in this reading are not recorded`,
      );
    }
    this.#before = counters;
    if (sample.network !== undefined) this.#network = sample;
    this.#drivesAtNs ??= counters.takenAtNs;
    if (counters.drives !== undefined) {
      this.#drives = read.filter(({ name }) => name.startsWith('drive.'));
      this.#drivesAtNs = counters.takenAtNs;
    } else points.push(...this.#drives);
    this.pointsListeners.notify(at, points, isWhole(sample));
  }

  /** Returns for how long a value holds: from one reading to the next, plus a second by which a reading may be late. */
  get #heldSeconds(): number {
    const intervalMs = Math.max(this.#options.sampler.intervalMs, this.#idleMs);
    return Math.min(FINE_SECONDS, Math.ceil(intervalMs / 1000));
  }
}
