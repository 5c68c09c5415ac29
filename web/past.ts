/**
 * The past of the charts: requested from the service's history with each connection, and continued by each
 * sample.
 */
import { ClientError } from '../src/client/client.ts';
import type { HistoryEvent, HistoryMark, HistoryPayload } from '../src/wire/history.ts';
import { History, type Point, RANGES, sumOf } from './history.ts';
import { getJson, storageName } from './requests.ts';
import type { Sample } from './sample.ts';
import { Value } from './value.ts';

/** A series of the page that is the sum of series of the service, times `factor`. */
export interface Sum {
  readonly series: string;
  readonly of: readonly string[];
  readonly factor?: number;
}

/** The series of the cards' charts. The cards import this file. */
export interface Charts {
  readonly pointsOf: (sample: Sample) => ReadonlyMap<string, Point>;
  /** Names of series of the service; `*` stands for any text. */
  readonly kept: readonly string[];
  readonly sumsOf: (sample: Sample) => readonly Sum[];
}

const NOTES_SECONDS = 3600;

let charts: Charts = { pointsOf: () => new Map(), kept: [], sumsOf: () => [] };

const RANGE_NAME = storageName('range');

/** All ranges are continued by each sample, so that a switch shows the known values immediately. */
const histories = [new History(RANGES[0]), new History(RANGES[1])] as const;
/** The chosen one. */
export const range = new Value(
  Math.max(
    0,
    RANGES.findIndex(({ label }) => label === localStorage.getItem(RANGE_NAME)),
  ),
);
/** Undefined until the service has answered. */
export const hasHistory = new Value<boolean | undefined>(undefined);
/** Changes when the charts must be drawn again. */
export const drawn = new Value(0);

interface Notes {
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
}
/** Marks and events of the last hour. */
export const notes = new Value<Notes>({ marks: [], events: [] });

/** Returns the shown one: always the first if the service keeps no history. */
export const shown = (): History =>
  (hasHistory.current === false ? undefined : histories[range.current]) ?? histories[0];

hasHistory.watch((has) => {
  if (has === true) requestAll();
  redraw();
});

/** Spans one connection to the next. */
let visit = new AbortController();
/** The newest sample of the visit. */
let newest: Sample | undefined;
/** Handles answers that arrived before the first sample, which determines the series to fill. */
let early: (() => void)[] = [];
/** Series requested in the visit. */
const requested = new Set<string>();
/** Series requested by open parts of cards. */
const extras = new Set<string>();

const redraw = () => drawn.set(drawn.current + 1);

function fill(history: History, { series, ...slots }: HistoryPayload): void {
  if (newest === undefined) return;
  const sums = charts.sumsOf(newest).map(({ series: name, of, factor }) => {
    const parts = of.map((part) => series[part]).filter((part) => part !== undefined);
    return [name, sumOf(parts, factor)] as const;
  });
  history.fill({ ...slots, series: { ...series, ...Object.fromEntries(sums) } });
  redraw();
}

/** Resolves with undefined without an answer: the charts then show only the samples of this page. */
async function ask(
  names: readonly string[],
  seconds: number,
  step: number,
): Promise<HistoryPayload | undefined> {
  const query = new URLSearchParams({ series: names.join(), since: `${-seconds}`, step: `${step}` });
  try {
    const payload = await getJson<HistoryPayload>(`/api/history?${query}`, visit.signal);
    hasHistory.set(true);
    return payload;
  } catch (error) {
    if (error instanceof ClientError && error.status === 403) hasHistory.set(false);
    return undefined;
  }
}

/** Fills the shown history with the series of `names`, once in each visit. */
async function request(names: readonly string[]): Promise<void> {
  const history = shown();
  const { seconds, step } = history.range;
  const what = `${step} ${names}`;
  if (requested.has(what)) return;
  requested.add(what);
  const { signal } = visit;
  const payload = await ask(names, seconds, step);
  if (signal.aborted) return;
  if (payload === undefined) requested.delete(what);
  else if (newest === undefined) early.push(() => fill(history, payload));
  else fill(history, payload);
}

function requestAll(): void {
  for (const names of [charts.kept, ...extras]) void request([names].flat());
}

async function readNotes(): Promise<void> {
  // One number per series is the smallest request.
  const payload = await ask(['cpu.load'], NOTES_SECONDS, NOTES_SECONDS);
  if (payload !== undefined) notes.set(payload);
}

/** Requests what must be renewed from time to time; nothing if the service keeps no history. */
export function renewPast(): void {
  if (hasHistory.current === false) return;
  requestAll();
  void readNotes();
}

/** Fills the charts with further series, for as long as the page is open. */
export function want(name: string): void {
  extras.add(name);
  if (hasHistory.current !== false) void request([name]);
}

export function choose(next: number): void {
  localStorage.setItem(RANGE_NAME, RANGES[next]?.label ?? '');
  range.set(next);
  requestAll();
  redraw();
}

/** Must be called before the stream is opened, because the charts wait for this. */
export function openPast(of: Charts): void {
  closePast();
  charts = of;
  visit = new AbortController();
  requestAll();
}

export function closePast(): void {
  visit.abort();
  requested.clear();
  newest = undefined;
  early = [];
}

/** `isFirst`: of a connection. */
export function continuePast(sample: Sample, isFirst: boolean): void {
  const isAgain = newest !== undefined && (isFirst || sample.timestamp < newest.timestamp);
  // The connection was lost, or the machine's clock was set back: the charts must be filled again.
  if (isAgain) requested.clear();
  newest = sample;
  const points = charts.pointsOf(sample);
  for (const history of histories) history.push(sample.timestamp, sample.interval_seconds, points);
  for (const act of early.splice(0)) act();
  if (isFirst || isAgain) renewPast();
  redraw();
}
