/**
 * The past of the charts: requested from the service's history with each connection, and continued by each
 * sample.
 */
import { ClientError } from '../src/client/client.ts';
import type { HistoryEvent, HistoryMark, HistoryPayload } from '../src/wire/history.ts';
import { timeInAddress, writeAddress } from './address.ts';
import { momentText } from './format.ts';
import { History, type Point, RANGES, type Range, rangeOf, sumOf } from './history.ts';
import { getJson, storageName } from './requests.ts';
import type { Sample } from './sample.ts';
import { TEXTS } from './texts.ts';
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

/** Time for which notes are requested again: somewhat longer than the time between two requests. */
const NOTES_SECONDS = 150;
/** Seconds of a slot of the history on disk. */
const COARSE_STEP = 10;

let charts: Charts = { pointsOf: () => new Map(), kept: [], sumsOf: () => [] };

const RANGE_NAME = storageName('range');

/** Ranges that end now and have been shown: each sample continues them, so that a switch shows the known values immediately. */
const live = new Map<Range, History>(RANGES.slice(0, 2).map((each) => [each, new History(each)]));
/** The last one that ends before now. */
let past: History | undefined;

function rangeInAddress(): Range | undefined {
  const [from, until] = [timeInAddress('from'), timeInAddress('to')];
  return from === undefined || until === undefined ? undefined : rangeBetween(from, until);
}

const rangeBetween = (from: number, until: number) =>
  rangeOf(from, until, TEXTS.chart.between(momentText(from, 60), momentText(until, 60)), Date.now() / 1000);

/** The chosen one. */
export const range = new Value<Range>(
  rangeInAddress() ?? RANGES.find(({ label }) => label === localStorage.getItem(RANGE_NAME)) ?? RANGES[0],
);
/** Undefined until the service has answered. */
export const hasHistory = new Value<boolean | undefined>(undefined);
/** Changes when the charts must be drawn again. */
export const drawn = new Value(0);

interface Notes {
  readonly marks: readonly HistoryMark[];
  readonly events: readonly HistoryEvent[];
}
const NO_NOTES: Notes = { marks: [], events: [] };
/** Marks and events of the shown range. */
export const notes = new Value<Notes>(NO_NOTES);
/** The time from which the service has values, in Unix seconds. */
export const oldest = new Value<number | undefined>(undefined);

/** Returns the shown one: always the first if the service keeps no history. */
export function shown(): History {
  const chosen = hasHistory.current === false ? RANGES[0] : range.current;
  let found = past?.range === chosen ? past : live.get(chosen);
  if (found !== undefined) return found;
  found = new History(chosen);
  if (chosen.from !== undefined) past = found;
  else {
    live.set(chosen, found);
    if (newest !== undefined) found.push(newest.timestamp, newest.interval_seconds, charts.pointsOf(newest));
  }
  return found;
}

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
/** Series requested in the visit, by what they are for. */
let requested = new WeakMap<History, Set<string>>();
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
  { seconds, step, from }: Omit<Range, 'label' | 'words'>,
): Promise<HistoryPayload | undefined> {
  const query = new URLSearchParams({
    series: names.join(),
    since: `${from ?? -seconds}`,
    ...(from !== undefined && { until: `${from + seconds}` }),
    step: `${step}`,
  });
  try {
    const payload = await getJson<HistoryPayload>(`/api/history?${query}`, visit.signal);
    oldest.set(payload.oldest ?? undefined);
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
  const known = requested.get(history) ?? new Set();
  requested.set(history, known);
  const what = names.join();
  if (known.has(what)) return;
  known.add(what);
  const { signal } = visit;
  // Each second is kept in memory alone: what was before a restart comes from the slots of 10 s.
  const { step } = history.range;
  const steps = step === 1 ? [COARSE_STEP, step] : [step];
  const payloads = await Promise.all(steps.map((each) => ask(names, { ...history.range, step: each })));
  if (signal.aborted) return;
  const answers = payloads.filter((payload) => payload !== undefined);
  if (answers.length === 0) known.delete(what);
  const act = () => answers.forEach((payload) => fill(history, payload));
  if (newest === undefined) early.push(act);
  else act();
  const [first] = answers;
  if (names === charts.kept && history === shown()) notes.set(first ?? NO_NOTES);
}

function requestAll(): void {
  void request(charts.kept);
  for (const name of extras) void request([name]);
}

const keyOf = ({ at, text }: HistoryMark | HistoryEvent) => `${at} ${text}`;
const merged = <T extends HistoryMark | HistoryEvent>(known: readonly T[], news: readonly T[]) => {
  const keys = new Set(known.map(keyOf));
  const added = news.filter((note) => !keys.has(keyOf(note)));
  return added.length === 0 ? known : [...known, ...added];
};

async function readNotes(): Promise<void> {
  // One number per series is the smallest request.
  const payload = await ask(['cpu.load'], { seconds: NOTES_SECONDS, step: NOTES_SECONDS });
  if (payload === undefined || range.current.from !== undefined) return;
  const { marks, events } = notes.current;
  const next = { marks: merged(marks, payload.marks), events: merged(events, payload.events) };
  if (next.marks !== marks || next.events !== events) notes.set(next);
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

export function choose(next: Range): void {
  if (next.from === undefined) localStorage.setItem(RANGE_NAME, next.label);
  writeAddress({ from: next.from, to: next.from === undefined ? undefined : next.from + next.seconds });
  wider = [];
  range.set(next);
  notes.set(NO_NOTES);
  // Their notes come with the answer.
  requested.delete(shown());
  requestAll();
  redraw();
}

/** Shows the time between two moments; the last of the same length where it is not over yet. */
function chooseBetween(from: number, until: number): void {
  const now = newest?.timestamp ?? Date.now() / 1000;
  const isOver = until < now;
  const same = RANGES.find(({ seconds }) => seconds === until - from);
  choose(isOver || same === undefined ? rangeBetween(from, Math.min(until, now)) : same);
}

/** The ranges that were shown before each zoom since one was chosen. */
let wider: readonly Range[] = [];

export function zoomIn(from: number, until: number): void {
  const before = [...wider, range.current];
  chooseBetween(from, until);
  wider = before;
}

/** Shows what was shown before the last zoom; now, where a link led to the shown time. */
export function zoomOut(): void {
  const [last, rest] = [wider.at(-1), wider.slice(0, -1)];
  if (last === undefined) chooseNow();
  else choose(last);
  wider = rest;
}

/** Shows a time that ends now and is as long as the shown one. */
export function chooseNow(): void {
  const { from, seconds } = range.current;
  if (from !== undefined) choose(RANGES.find((each) => each.seconds >= seconds) ?? RANGES[0]);
}

/** Moves the shown time by its own length. */
export function move(by: 1 | -1): void {
  const {
    times,
    range: { seconds },
  } = shown();
  const [from] = times;
  if (from !== undefined) chooseBetween(from + by * seconds, from + by * seconds + seconds);
}

addEventListener('hashchange', () => {
  const next = rangeInAddress();
  if (next !== undefined) choose(next);
});

/** Must be called before the stream is opened, because the charts wait for this. */
export function openPast(of: Charts): void {
  closePast();
  charts = of;
  visit = new AbortController();
  requestAll();
}

export function closePast(): void {
  visit.abort();
  requested = new WeakMap();
  newest = undefined;
  early = [];
}

/** `isFirst`: of a connection. */
export function continuePast(sample: Sample, isFirst: boolean): void {
  const isAgain = newest !== undefined && (isFirst || sample.timestamp < newest.timestamp);
  // The connection was lost, or the machine's clock was set back: the charts must be filled again.
  if (isAgain) requested = new WeakMap();
  newest = sample;
  const points = charts.pointsOf(sample);
  for (const history of live.values()) history.push(sample.timestamp, sample.interval_seconds, points);
  for (const act of early.splice(0)) act();
  if (isFirst || isAgain) renewPast();
  redraw();
}
