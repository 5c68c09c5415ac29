/** The history: records in memory, and on disk if that is configured, behind one interface. */
import type { LiveConfig } from '../config/current.ts';
import { messageOf } from '../errors.ts';
import { PLACES, REMEMBERED } from '../fairness/limits.ts';
import { Listeners } from '../listeners.ts';
import type { HistoryEvent, HistoryMark, HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import type { History, HistoryRequest, Slot, Store, StoreAnswer } from './history.ts';
import { SLOT_SECONDS } from './history.ts';
import type { Incidents } from './incidents.ts';
import type { Memory } from './memory.ts';
import type { ProcessHistory } from './processes.ts';
import { columnSteps, DEFAULT_SERIES, type Grid, gridOf, matcherOf, memoryBegin } from './query.ts';
import { Recorder, type RecorderOptions } from './recorder.ts';
import { TREND_REQUEST, trendPoints } from './trend.ts';
import { inTurns } from './turns.ts';
import type { Watch } from './watch.ts';

/** The programs that ran in each slot. */
export type SlotProcesses = Pick<ProcessHistory, 'onPoints' | 'take' | 'at' | 'reconfigure' | 'close'>;

/** The rules of `watch`. */
export type WatchRules = Pick<Watch, 'isWaiting' | 'onPoints' | 'reconfigure' | 'onEvent'>;

export interface RecordedHistoryOptions extends RecorderOptions {
  readonly config: LiveConfig;
  /** Unix milliseconds. */
  readonly unixMs: () => number;
  /** The start of the service, in Unix seconds, and its version. */
  readonly startedAt: number;
  readonly version: string;
  readonly processes?: SlotProcesses | undefined;
  readonly watch?: WatchRules | undefined;
  readonly incidents?: Pick<Incidents, 'close'> | undefined;
  /** The history on disk, if it is already open. */
  readonly store?: Store | undefined;
  /** Opens it, if the configuration has one. Never rejects. */
  readonly openStore?: (() => Promise<Store | undefined>) | undefined;
}

const FIRST_TREND_SECONDS = 600;

const nothing = (step: number): StoreAnswer => ({ step, slots: [], marks: [], events: [] });

export class RecordedHistory implements History {
  readonly #options: RecordedHistoryOptions;
  readonly #recorder: Recorder;
  readonly #events: HistoryEvent[] = [];
  readonly #eventListeners = new Listeners<[event: HistoryEvent]>();
  /** Settled when it is open; undefined before the first recording. */
  #opening: Promise<void> | undefined;
  #store: Store | undefined;
  #storeFailed = false;
  #unlisten = (): void => undefined;
  /** When trends were looked for. The first time is some minutes after the start, when the disk has less to do. */
  #trendAt: number;

  constructor(options: RecordedHistoryOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#trendAt = options.startedAt + FIRST_TREND_SECONDS - TREND_REQUEST.step;
    this.#recorder = new Recorder(options);
    const { watch, processes } = options;
    this.#recorder.slotListeners.add((slot) => this.#handOn(slot));
    this.#recorder.markListeners.add((mark) => this.#store?.mark(mark));
    this.#recorder.pointsListeners.add((at, points, isWhole) => {
      watch?.onPoints(at, points, isWhole);
      processes?.onPoints(points, watch?.isWaiting === true);
      // The clock may be set back.
      if (Math.abs(at - this.#trendAt) >= TREND_REQUEST.step) void this.#findTrend(at);
    });
    watch?.onEvent((event) => this.report(event));
  }

  get isOn(): boolean {
    return this.#recorder.memory !== undefined;
  }

  /** Returns the memory that readings take, in bytes. */
  get bytes(): number {
    return this.#recorder.memory?.bytes ?? 0;
  }

  start(): void {
    this.#reconfigure();
    this.#unlisten = this.#options.config.onChange(() => this.#reconfigure());
    const { startedAt: at, version } = this.#options;
    if (this.isOn)
      this.#recorder.mark({ at, kind: 'start', seconds: null, text: `hostwire ${version} started.` });
  }

  #reconfigure(): void {
    this.#recorder.reconfigure();
    if (this.isOn) this.#opening ??= this.#open();
    this.#options.processes?.reconfigure();
    this.#options.watch?.reconfigure();
  }

  async #open(): Promise<void> {
    this.#store ??= await this.#options.openStore?.();
  }

  /** Never rejects. Resolves with false as `Store.close` does. */
  async close(): Promise<boolean> {
    this.#unlisten();
    this.#recorder.close();
    this.#options.processes?.close();
    this.#options.incidents?.close();
    await this.#opening;
    return (await this.#store?.close()) ?? true;
  }

  async query(request: HistoryRequest): Promise<HistoryPayload | 'too_many'> {
    const { memory } = this.#recorder;
    const nowSeconds = this.#options.unixMs() / 1000;
    const wantedGrid = gridOf(request, nowSeconds);
    const wanted = request.series.length === 0 ? DEFAULT_SERIES : request.series;
    const matches = matcherOf(wanted);
    if (memory === undefined)
      return { ...wantedGrid, oldest: null, series: {}, unknown: [...request.series], marks: [], events: [] };
    if (wantedGrid.count > PLACES.numbers.max) return 'too_many';
    const first = await this.#readStore(wantedGrid, matches, memory);
    if (first === 'too_many') return first;
    // If only summaries are kept, the whole answer has their step.
    const isCoarser = first.step > wantedGrid.step;
    const grid = isCoarser ? gridOf({ ...request, step: first.step }, nowSeconds) : wantedGrid;
    const stored = isCoarser ? await this.#readStore(grid, matches, memory) : first;
    if (stored === 'too_many') return stored;
    const { start, step, count } = grid;
    const series = await inTurns(columnSteps(grid, matches, memory, stored.slots));
    if (series === undefined) return 'too_many';
    const names = Object.keys(series);
    const oldest = Math.min(this.#store?.oldest ?? Number.POSITIVE_INFINITY, memory.firstSlot * SLOT_SECONDS);
    const end = start + step * count;
    const isWithin = ({ at }: HistoryMark | HistoryEvent) => at >= start && at < end;
    const isFound = (name: string) => names.some(matcherOf([name]));
    return {
      start,
      step,
      count,
      oldest: Number.isFinite(oldest) ? oldest : null,
      series,
      unknown: request.series.filter((name) => !isFound(name)),
      ...(request.series.length === 0 && { available: [...memory.names].sort() }),
      marks: merged(stored.marks, this.#recorder.marks, keyOfMark).filter(isWithin),
      events: merged(stored.events, this.#events, keyOfEvent).filter(isWithin),
    };
  }

  async processesAt(at: number): Promise<ProcessHistoryPayload> {
    const found =
      this.#options.processes?.at(at) ??
      (await this.#store?.processesAt(at).catch((error) => this.#note(error)));
    if (!found) return { at, taken_at: null, window_seconds: null, cpu: null, memory: null, disk: null };
    const { takenAt, windowSeconds, cpu, memory, disk } = found;
    return { at, taken_at: takenAt, window_seconds: windowSeconds, cpu, memory, disk };
  }

  onEvent(listener: (event: HistoryEvent) => void): () => void {
    return this.#eventListeners.add(listener);
  }

  /** Keeps an event, and passes it on. */
  report(event: HistoryEvent): void {
    this.#events.push(event);
    if (this.#events.length > REMEMBERED.events) this.#events.shift();
    this.#store?.event(event);
    this.#eventListeners.notify(event);
  }

  async #findTrend(at: number): Promise<void> {
    this.#trendAt = at;
    const answer = await this.query(TREND_REQUEST);
    this.#recorder.derived = answer === 'too_many' ? [] : trendPoints(answer);
  }

  /** Handles a slot that has ended. */
  #handOn(ended: Omit<Slot, 'processes'>): void {
    const { processes } = this.#options;
    this.#store?.put({ ...ended, processes: processes?.take(ended) });
  }

  async #readStore(
    grid: Grid,
    names: (name: string) => boolean,
    memory: Memory,
  ): Promise<StoreAnswer | 'too_many'> {
    const { start, step, count } = grid;
    const until = Math.min(start + step * count, memoryBegin(grid, memory));
    if (this.#store === undefined || step < SLOT_SECONDS || start >= until) return nothing(step);
    try {
      const answer = await this.#store.read({ names, from: start, until, step });
      this.#storeFailed = false;
      return answer;
    } catch (error) {
      this.#note(error);
      return nothing(step);
    }
  }

  /** Logs that the store cannot be read, once until it can be read again. */
  #note(error: unknown): undefined {
    if (!this.#storeFailed) this.#options.log.warn(`cannot read the history on disk: ${messageOf(error)}`);
    this.#storeFailed = true;
  }
}

const keyOfMark = ({ at, kind }: HistoryMark) => `${at} ${kind}`;
const keyOfEvent = ({ at, rule, state, series }: HistoryEvent) => `${at} ${rule} ${state} ${series}`;

/** Merges both without duplicates, in order; those on disk have more details about a start. */
function merged<T extends { readonly at: number }>(
  some: readonly T[],
  others: readonly T[],
  keyOf: (one: T) => string,
): readonly T[] {
  if (some.length === 0) return others;
  const byKey = new Map([...others, ...some].map((one) => [keyOf(one), one]));
  return [...byKey.values()].sort((a, b) => a.at - b.at);
}
