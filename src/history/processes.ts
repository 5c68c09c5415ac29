/** Keeps the programs with most use: every 10 s, or every minute while the machine is idle. */
import type { Clock } from '../clock.ts';
import type { CurrentConfig } from '../config/current.ts';
import type { ProcessColumns } from '../host/processes.ts';
import type { ProcessReadings } from '../processes/readings.ts';
import type { ProcessUses } from '../wire/history.ts';
import { type SeriesPoint, SLOT_SECONDS, type Slot } from './history.ts';
import { type ProcessMoment, ProcessRing } from './process-ring.ts';
import { usesBetween } from './process-uses.ts';

export interface ProcessHistoryOptions {
  readonly readings: Pick<ProcessReadings, 'askWithDisks' | 'latest'>;
  readonly clock: Clock;
  /** `features.enable_processes`, `history.minutes`. */
  readonly config: CurrentConfig;
}

const BUSY_PACE_MS = SLOT_SECONDS * 1000;
const IDLE_PACE_MS = 60_000;
/** Maximum time by which samples are late: one that is early must not wait for the next. */
const LEEWAY_MS = 500;
/** Load, in % of one processor, from which the machine counts as busy. */
const BUSY_PERCENT = 25;

/** Delay after which a reading is picked up: 10,000 processes take 200 ms. */
const PICK_MS = 300;
/** Maximum number of attempts; a reading that is later is picked up with the next sample. */
const MAX_PICKS = 5;
/** Minimum interval of readings requested here; they never take more than 1 % of a processor. */
const LEAST_INTERVAL_MS = 1000;
/** Maximum age of a reading that counts as current. */
const CURRENT_MS = IDLE_PACE_MS + BUSY_PACE_MS;
/** Maximum window: a longer average would say nothing about the moment. */
const MAX_WINDOW_NS = 150e9;

const NS_PER_MS = 1e6;

const LOAD = 'cpu.load';
const CORE = 'cpu.core/';

export class ProcessHistory {
  readonly #options: ProcessHistoryOptions;
  #ring: ProcessRing;
  #minutes: number;
  #before: ProcessColumns | undefined;
  /** Time of the last request, on the clock that counts suspended time; undefined: picked up, or never made. */
  #askedMs: number | undefined;
  /** Time of the request for the last reading that was picked up. */
  #lastMs = Number.NEGATIVE_INFINITY;
  #picks = 0;
  #timer: unknown;
  /** Known once a sample with detail has arrived. */
  #processors = 1;

  constructor(options: ProcessHistoryOptions) {
    this.#options = options;
    this.#minutes = options.config.current.history.minutes;
    this.#ring = new ProcessRing(this.#minutes);
  }

  /**
   * Handles the points of a sample. `isWanted`: reads also while the machine is idle, for a watch rule. Never waits.
   */
  onPoints(points: readonly SeriesPoint[], isWanted: boolean): void {
    if (!this.#options.config.current.features.enable_processes) {
      this.#clear();
      return;
    }
    const nowMs = this.#options.clock.sinceBoot();
    const isPaced = !isWanted && !this.#isBusy(points) && this.#ring.size > 1;
    if (nowMs - this.#lastMs < (isPaced ? IDLE_PACE_MS : BUSY_PACE_MS) - LEEWAY_MS) return;
    this.#askedMs ??= nowMs;
    this.#picks = 0;
    this.#ask(nowMs);
  }

  /** Returns whether the machine is busy enough to name its programs. */
  #isBusy(points: readonly SeriesPoint[]): boolean {
    const cores = points.filter(({ name }) => name.startsWith(CORE)).length;
    if (cores > 0) this.#processors = cores;
    const load = points.find(({ name }) => name === LOAD)?.value ?? 0;
    return load * this.#processors >= BUSY_PERCENT;
  }

  /** Returns the moment whose window contains `at`, in Unix seconds, or the nearest one before it. */
  at(at: number): ProcessMoment | undefined {
    return this.#ring.at(at);
  }

  /** Returns the last moment in a slot that has ended. */
  take({ at }: Pick<Slot, 'at'>): ProcessMoment | undefined {
    return this.#ring.within(at, at + SLOT_SECONDS);
  }

  /** The programs that ran last, for an event; null if unknown, undefined while `features.enable_processes` is off. */
  get running(): ProcessUses | null | undefined {
    if (!this.#options.config.current.features.enable_processes) return undefined;
    const moment = this.#ring.newest;
    if (moment === undefined || this.#options.clock.sinceBoot() - this.#lastMs > CURRENT_MS) return null;
    const { cpu, memory, disk } = moment;
    return { cpu, memory, disk };
  }

  /** Returns the size without the names. */
  get byteLength(): number {
    return this.#ring.byteLength;
  }

  /** Applies a change of `history.minutes`. */
  reconfigure(): void {
    const { minutes } = this.#options.config.current.history;
    if (minutes === this.#minutes) return;
    this.#minutes = minutes;
    const old = this.#ring;
    this.#ring = new ProcessRing(minutes);
    for (const moment of old) this.#ring.put(moment);
  }

  close(): void {
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#askedMs = undefined;
  }

  #clear(): void {
    this.close();
    this.#before = undefined;
    this.#lastMs = Number.NEGATIVE_INFINITY;
    if (this.#ring.size > 0) this.#ring = new ProcessRing(this.#minutes);
  }

  #ask(nowMs: number): void {
    const { readings, clock } = this.#options;
    readings.askWithDisks({ sinceBootNs: nowMs * NS_PER_MS }, LEAST_INTERVAL_MS);
    clock.clearTimer(this.#timer);
    this.#timer = clock.setTimer(() => this.#pick(), PICK_MS);
  }

  #pick(): void {
    const { readings, clock } = this.#options;
    const columns = readings.latest;
    const askedMs = this.#askedMs ?? Number.POSITIVE_INFINITY;
    const isNew = columns !== null && columns.sinceBootNs >= askedMs * NS_PER_MS;
    // A reading that had begun before it was asked for disks has none: the next one has them.
    const isWhole = isNew && columns.readBytes !== null;
    this.#picks++;
    if (isNew && (isWhole || this.#picks === MAX_PICKS)) this.#keep(columns, askedMs);
    else if (this.#picks < MAX_PICKS) this.#ask(clock.sinceBoot());
  }

  #keep(columns: ProcessColumns, askedMs: number): void {
    this.#askedMs = undefined;
    this.#lastMs = askedMs;
    const known = this.#before;
    const isRecent = known !== undefined && columns.takenAtNs - known.takenAtNs <= MAX_WINDOW_NS;
    this.#before = columns;
    this.#ring.put({ ...usesBetween(isRecent ? known : undefined, columns), takenAt: columns.unixMs / 1000 });
  }
}
