/** The history put together: memory, the store, processes and watch rules behind one interface. */

import t from 'tap';
import type { SeriesPoint, Slot, Store, StoreAnswer, StoreRequest } from '#src/history/history.js';
import type { SlotProcesses, WatchRules } from '#src/history/recorded.js';
import { DETAIL_BITS } from '#src/stats/needs.js';
import type { HistoryEvent, HistoryMark } from '#src/wire/history.js';
import { DRIVE } from '../helpers/fakes/host.ts';
import { CPU } from '../stats/sampler-setup.ts';
import { setUpHistory, UNIX_SECONDS } from './setup.ts';

const NOTHING: StoreAnswer = { step: 10, slots: [], marks: [], events: [] };

/** Keeps what it is given, and answers what the test says. */
class FakeStore implements Store {
  readonly slots: Slot[] = [];
  readonly marks: HistoryMark[] = [];
  readonly events: HistoryEvent[] = [];
  readonly requests: StoreRequest[] = [];
  oldest: number | undefined;
  isClosed = false;
  answer: () => Promise<StoreAnswer> = () => Promise.resolve(NOTHING);
  processes: () => Promise<Slot['processes']> = () => Promise.resolve(undefined);
  put = (slot: Slot) => void this.slots.push(slot);
  mark = (mark: HistoryMark) => void this.marks.push(mark);
  event = (event: HistoryEvent) => void this.events.push(event);
  read(request: StoreRequest) {
    this.requests.push(request);
    return this.answer();
  }
  processesAt = () => this.processes();
  close() {
    this.isClosed = true;
    return Promise.resolve(true);
  }
}

const uses = { cpu: [{ name: 'stress', count: 2, value: 90 }], memory: [], disk: null };
const processesOf = (takenAt: number) => ({ ...uses, takenAt, windowSeconds: 10 });

const NO_PROCESSES: SlotProcesses = {
  onPoints: () => undefined,
  take: () => undefined,
  at: () => undefined,
  reconfigure: () => undefined,
  close: () => undefined,
};

const NO_WATCH: WatchRules = {
  isWaiting: false,
  onPoints: () => undefined,
  reconfigure: () => undefined,
  onEvent: () => () => undefined,
};

const slotAt = (seconds: number, mean: number): Slot => ({
  at: UNIX_SECONDS + seconds,
  values: new Map([['cpu.load', { mean, min: mean, max: mean, unit: '%' }]]),
  processes: undefined,
});

const eventAt = (seconds: number): HistoryEvent => ({
  at: UNIX_SECONDS + seconds,
  rule: 'hot',
  state: 'begin',
  series: 'cpu.load',
  value: 97,
  text: 'hot: cpu.load is 97 %',
});

t.test('slots that are over, with their processes, and points are handed on', async (t) => {
  const store = new FakeStore();
  const points: (readonly [at: number, points: readonly SeriesPoint[]])[] = [];
  const asked: boolean[] = [];
  const processes: SlotProcesses = {
    ...NO_PROCESSES,
    onPoints: (given, isWanted) => void (given === points.at(-1)?.[1] && asked.push(isWanted)),
    take: ({ at }) => processesOf(at),
  };
  const watch: WatchRules = {
    ...NO_WATCH,
    isWaiting: true,
    onPoints: (at, given) => void points.push([at, given]),
  };
  const { clock, history, sampler } = setUpHistory({}, { store, processes, watch });
  history.start();
  sampler.subscribe(CPU);
  await clock.advance(31_000);
  t.strictSame(
    store.slots.map(({ at }) => at - UNIX_SECONDS),
    [0, 10, 20],
  );
  t.match(store.slots[1], { processes: processesOf(UNIX_SECONDS + 10) });
  t.match(store.slots[1]?.values.get('cpu.load'), { mean: 50, min: 50, max: 50, unit: '%' });
  t.equal(points.length, 15, 'of each sample');
  t.strictSame(asked, Array(15).fill(true), 'to the processes after the rules, with what these want');
  t.match(points.at(-1)?.[1][0], { name: 'cpu.load', value: 50 });
  t.match(store.marks, [{ kind: 'start' }]);
  await history.close();
  t.ok(store.isClosed);
  t.equal(store.slots.at(-1)?.at, UNIX_SECONDS + 30, 'the last one is handed on unfinished');
});

t.test('times before memory come from the store', async (t) => {
  const store = new FakeStore();
  const { clock, history } = setUpHistory({}, { store });
  const mark: HistoryMark = { at: UNIX_SECONDS - 500, kind: 'crash', seconds: 3, text: 'It ended.' };
  history.start();
  await clock.advance(30_000);
  store.answer = async () => ({
    step: 10,
    slots: [slotAt(-500, 7), slotAt(-490, 8)],
    marks: [mark, ...store.marks],
    events: [eventAt(-495)],
  });
  const query = (since: number, step?: number) =>
    history.query({ series: ['cpu.load'], since, until: undefined, step });
  const answer = await query(-600, 10);
  if (answer === 'too_many') throw new Error(answer);
  const [request] = store.requests;
  t.match(request, { from: answer.start, until: UNIX_SECONDS, step: 10 });
  t.strictSame([request?.names('cpu.load'), request?.names('cpu.speed')], [true, false]);
  const at = (seconds: number) => (UNIX_SECONDS + seconds - answer.start) / 10;
  const mean = answer.series['cpu.load']?.mean ?? [];
  t.strictSame([mean[at(-500)], mean[at(-490)], mean[at(-480)], mean[at(10)]], [7, 8, null, 50]);
  t.strictSame(
    answer.marks.map(({ kind }) => kind),
    ['crash', 'start'],
    'in order, each once',
  );
  t.strictSame(answer.events, [eventAt(-495)]);
  t.equal(answer.oldest, UNIX_SECONDS, 'what memory has');
  store.oldest = UNIX_SECONDS - 500;
  const next = await query(-20, 10);
  t.equal(next === 'too_many' ? undefined : next.oldest, UNIX_SECONDS - 500, 'what is on disk');
  t.equal(store.requests.length, 1, 'it is not asked for what memory has');
  await query(-60);
  t.equal(store.requests.length, 1, 'nor for seconds');
});

t.test('a store that does not answer costs only its part', async (t) => {
  const store = new FakeStore();
  const { clock, history, query, warnings } = setUpHistory({}, { store });
  history.start();
  await clock.advance(30_000);
  store.answer = () => Promise.reject(new Error('EIO'));
  store.processes = () => Promise.reject(new Error('EIO'));
  t.ok((await query(600, 10)).series['cpu.load']);
  await query(600, 10);
  t.match(await history.processesAt(UNIX_SECONDS), { at: UNIX_SECONDS, taken_at: null, cpu: null });
  t.strictSame(warnings, ['cannot read the history on disk: EIO'], 'one line');
  store.answer = () => Promise.resolve(NOTHING);
  await query(600, 10);
  store.answer = () => Promise.reject(new Error('EIO'));
  await query(600, 10);
  t.equal(warnings.length, 2, 'and another one when it fails again');
});

t.test('the programs that ran at a moment: from memory, otherwise from the store', async (t) => {
  const store = new FakeStore();
  const processes: SlotProcesses = {
    ...NO_PROCESSES,
    at: (at) => (at >= UNIX_SECONDS ? processesOf(UNIX_SECONDS + 3) : undefined),
  };
  const { history } = setUpHistory({}, { store, processes });
  t.strictSame(await history.processesAt(UNIX_SECONDS + 5), {
    at: UNIX_SECONDS + 5,
    taken_at: UNIX_SECONDS + 3,
    window_seconds: 10,
    ...uses,
  });
  store.processes = () => Promise.resolve(processesOf(7));
  t.match(await history.processesAt(8), { at: 8, taken_at: 7 });
  const { history: bare } = setUpHistory();
  t.strictSame(await bare.processesAt(8), {
    at: 8,
    taken_at: null,
    window_seconds: null,
    cpu: null,
    memory: null,
    disk: null,
  });
});

t.test('events are kept, stored and reported', async (t) => {
  const store = new FakeStore();
  let report: (event: HistoryEvent) => void = () => undefined;
  const watch: WatchRules = {
    ...NO_WATCH,
    onEvent: (listener) => {
      report = listener;
      return () => undefined;
    },
  };
  const { clock, history, query } = setUpHistory({}, { store, watch });
  history.start();
  await clock.advance(30_000);
  const heard: HistoryEvent[] = [];
  const stop = history.onEvent((event) => heard.push(event));
  report(eventAt(10));
  stop();
  report(eventAt(20));
  t.strictSame(heard, [eventAt(10)]);
  t.strictSame(store.events, [eventAt(10), eventAt(20)]);
  t.strictSame((await query(60, 10)).events, [eventAt(10), eventAt(20)]);
  for (let at = 0; at < 2000; at++) report(eventAt(25));
  t.ok((await query(60, 10)).events.length <= 1000, 'as many as there may be');
});

t.test('names: the default ones, those that match nothing, and all that there are', async (t) => {
  const { clock, history } = setUpHistory();
  history.start();
  await clock.advance(30_000);
  const query = async (...series: readonly string[]) => {
    const answer = await history.query({ series, since: -60, until: undefined, step: 10 });
    return answer === 'too_many' ? undefined : answer;
  };
  const all = await query();
  t.strictSame(Object.keys(all?.series ?? {}).sort(), [
    ...['cpu.load', 'disk.used_percent//', 'memory.used_percent', 'network.receive', 'network.send'],
  ]);
  t.strictSame(all?.unknown, []);
  t.ok(all?.available?.includes('network.send/eth0'));
  t.strictSame(all?.available, [...(all?.available ?? [])].sort());
  const some = await query('network.*', 'gpu.load/7', 'x*');
  t.strictSame(some?.unknown, ['gpu.load/7', 'x*']);
  t.equal(some?.available, undefined);
  t.ok(Object.keys(some?.series ?? {}).every((name) => name.startsWith('network.')));
  t.equal(await query(...Array(3).fill('*')).then((answer) => answer?.step), 10);
  t.equal(
    await history.query({ series: ['*'], since: 0, until: undefined, step: 10 }),
    'too_many',
    'since 1970',
  );
});

t.test(
  '[12.disk-filling] ten minutes after the start, then hourly, a trend is found and recorded',
  async (t) => {
    const store = new FakeStore();
    store.answer = async () => {
      const { from = 0, step = 1 } = store.requests.at(-1) ?? {};
      const slots = Array.from({ length: 167 }, (_, hour) => {
        const mean = 60 + hour / 6;
        const values = new Map([['disk.used_percent//srv', { mean, min: mean, max: mean, unit: '%' }]]);
        return { at: from + hour * 3600, values, processes: undefined };
      });
      return { step, slots, marks: [], events: [] };
    };
    const { clock, history, query } = setUpHistory({}, { store });
    history.start();
    await clock.advance(590_000);
    t.strictSame(store.requests, []);
    await clock.advance(60_000);
    t.match(store.requests, [{ step: 3600 }]);
    const { series } = await query(30, 10, ['disk.days_left/*']);
    const days = series['disk.days_left//srv']?.mean.at(1) ?? 0;
    t.ok(days > 2.9 && days < 3.2, `${days}: 4 % per day, at 87.7 %`);
    const before = store.requests.length;
    await clock.advance(3_600_000);
    t.equal(store.requests.length, before + 1);
  },
);

t.test('[12.drive-failing] drives are read every ten minutes, and rules see them in between', async (t) => {
  const seen: { passed: number | null | undefined; isWhole: boolean | undefined }[] = [];
  const watch: WatchRules = {
    ...NO_WATCH,
    onPoints: (_, points, isWhole) => {
      const drive = points.find(({ name }) => name === `drive.passed/${DRIVE.name}`);
      seen.push({ passed: drive?.value, isWhole });
    },
  };
  const { clock, host, history, sampler } = setUpHistory({}, { watch });
  const health = DRIVE.health && { ...DRIVE.health, isPassing: false };
  host.change = { drives: [{ ...DRIVE, health }], batteries: [], sensors: [] };
  history.start();
  await clock.advance(595_000);
  t.ok(
    seen.every(({ passed, isWhole }) => passed === undefined && isWhole === true),
    'not at the start',
  );
  seen.length = 0;
  await clock.advance(600_000);
  t.ok(seen.length >= 60 && seen.slice(2).every(({ passed }) => passed === 0), 'kept between two readings');
  const asked = host.reads.filter(({ details = 0 }) => (details & DETAIL_BITS.drives) !== 0).length;
  t.ok(asked <= 4, `${asked} questions`);
  host.change = { ...host.change, drives: [] };
  await clock.advance(620_000);
  t.equal(seen.at(-1)?.passed, undefined, 'it was pulled out');
  seen.length = 0;
  sampler.subscribe(CPU);
  await clock.advance(10_000);
  t.ok(seen.filter(({ isWhole }) => isWhole === false).length >= 4, 'a view of the processor is a part');
});
