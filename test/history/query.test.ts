/** Requests: the slots of an answer, names, limits, the store's part; answers are made once for all who ask the same. */
import t from 'tap';
import { runNow } from '#src/clock.js';
import { HistoryAnswer } from '#src/history/answers.js';
import { encodeHistory } from '#src/history/encode.js';
import type { HistoryRequest, Slot } from '#src/history/history.js';
import { Memory } from '#src/history/memory.js';
import { columnSteps, gridOf, matcherOf, memoryBegin } from '#src/history/query.js';
import { inTurns } from '#src/history/turns.js';
import type { HistoryPayload } from '#src/wire/history.js';

const NOW = 1_700_000_003.7;
const grid = (request: Partial<HistoryRequest>, now = NOW) => {
  const { start, step, count } = gridOf(
    { series: [], since: -3600, until: undefined, step: undefined, ...request },
    now,
  );
  return [start - 1_700_000_000, step, count];
};

const columnsOf = (...asked: Parameters<typeof columnSteps>) => runNow(columnSteps(...asked));

t.test('the slots of an answer', async (t) => {
  t.strictSame(grid({ since: -60 }), [-57, 1, 61], 'seconds within the last 300');
  t.strictSame(grid({ since: -300 }), [-297, 1, 301]);
  t.strictSame(grid({ since: -301 }), [-300, 10, 31], 'slots of 10 s before that');
  t.strictSame(grid({}), [-3600, 10, 361], 'an hour');
  t.strictSame(grid({ since: -7190 }), [-7190, 10, 720], 'as many as 720');
  t.strictSame(grid({ since: -7200 }), [-7200, 20, 361]);
  t.strictSame(grid({ since: -86_400 }), [-86_460, 130, 666], 'of 120 s there would be 721');
  t.strictSame(grid({ since: 1_699_999_990, until: 1_700_000_000 }), [-10, 1, 10], 'Unix seconds');
  t.strictSame(grid({ since: -3600, until: 2e9 }), [-3600, 10, 361], 'nothing is known of the future');
  t.strictSame(grid({ since: -60, until: 1_699_999_000 })[2], 0, 'an end before the begin');
  t.strictSame(grid({ since: 2e9 })[2], 0);
});

t.test('a requested step is raised to what there is', async (t) => {
  const step = (since: number, wanted: number) => grid({ since, step: wanted })[1];
  t.strictSame([step(-60, 1), step(-60, 0.2), step(-60, 2), step(-60, 10)], [1, 1, 10, 10]);
  t.strictSame([step(-3600, 1), step(-3600, 15), step(-3600, 600)], [10, 20, 600]);
  t.strictSame(grid({ since: -3600, step: 600 }), [-3800, 600, 7], 'begin at a multiple of it');
});

t.test('names with stars', async (t) => {
  const matched = (patterns: readonly string[], ...names: readonly string[]) =>
    names.filter(matcherOf(patterns));
  t.strictSame(matched(['cpu.load'], 'cpu.load', 'cpu.load_average'), ['cpu.load']);
  t.strictSame(matched(['cpu.*'], 'cpu.load', 'cpu.core/1', 'gpu.load/0'), ['cpu.load', 'cpu.core/1']);
  t.strictSame(matched(['*/0', 'x'], 'cpu.core/0', 'x', 'cpu.core/10'), ['cpu.core/0', 'x']);
  t.strictSame(matched(['*'], 'a', ''), ['a', '']);
  t.strictSame(matched(['a*b*c'], 'abc', 'aXbYc', 'acb', 'ac', 'abbc', 'abc.'), ['abc', 'aXbYc', 'abbc']);
  t.strictSame(matched(['a*a'], 'a', 'aa'), ['aa'], 'both ends need a place');
  t.strictSame(matched(['a*b*b'], 'ab', 'abb'), ['abb']);
  t.strictSame(matched(['cpu.load', 'a.b'], 'cpuXload', 'aXb'), [], 'a point is a point');
  const many = `${'a*'.repeat(2000)}b`;
  t.strictSame(matched([many], 'a'.repeat(5000)), [], 'many stars take no time');
});

function memoryOf(
  values: readonly (readonly [at: number, value: number])[],
  name = 'cpu.load',
  unit = '%',
): Memory {
  const memory = new Memory(60);
  for (const [at, value] of values) {
    memory.advance(at);
    memory.add(at, 0, [{ name, unit, value }]);
  }
  return memory;
}

const all = () => true;

t.test('numbers have as many digits as their unit means', async (t) => {
  const first = (unit: string, value: number) =>
    columnsOf({ start: 1000, step: 1, count: 1 }, all, memoryOf([[1000, value]], 'x', unit))?.['x']?.mean[0];
  t.strictSame(
    [
      first('bytes/s', 1234.6),
      first('MiB', 1234.56),
      first('%', 12.3),
      first('GHz', 3.4567),
      first('', 0.12),
    ],
    [1235, 1234.6, 12.3, 3.457, 0.12],
  );
  const values = new Map([['x', { mean: 12_345.6, min: 0.1234, max: 99.94, unit: 'MiB' }]]);
  const long = columnsOf({ start: 0, step: 21_600, count: 1 }, all, new Memory(1), [
    { at: 0, values, processes: undefined },
  ]);
  t.strictSame(long?.['x'], { unit: 'MiB', mean: [12_300], min: [0.1], max: [99.9] }, 'of six hours: three');
});

t.test('an answer has a limit of numbers', async (t) => {
  const memory = memoryOf([[1000, 1]]);
  t.equal(columnsOf({ start: 0, step: 10, count: 33_334 }, all, memory), undefined);
  t.ok(columnsOf({ start: 0, step: 10, count: 33_333 }, all, memory));
  t.equal(
    columnsOf({ start: 0, step: 10, count: 1e9 }, () => false, memory),
    undefined,
    'nothing is allocated',
  );
  memory.add(1000, 0, [{ name: 'other', unit: '', value: 1 }]);
  t.equal(columnsOf({ start: 0, step: 10, count: 20_000 }, all, memory), undefined, 'of all series');
  t.ok(columnsOf({ start: 0, step: 10, count: 20_000 }, (name) => name === 'other', memory));
});

const slot = (at: number, mean: number, name = 'cpu.load'): Slot => ({
  at,
  values: new Map([[name, { mean, min: mean - 1, max: mean + 1, unit: '%' }]]),
  processes: undefined,
});

t.test('the store has what is before memory, and fills what memory lacks', async (t) => {
  const memory = memoryOf([
    [1000, 1],
    [1021, 3],
  ]);
  const stored = [slot(980, 50), slot(990, 60), slot(1000, 70), slot(1010, 80), slot(990, 5, 'old')];
  t.strictSame(columnsOf({ start: 980, step: 10, count: 5 }, all, memory, stored), {
    'cpu.load': { unit: '%', mean: [50, 60, 1, 80, 3], min: [49, 59, 1, 79, 3], max: [51, 61, 1, 81, 3] },
    old: {
      unit: '%',
      mean: [null, 5, null, null, null],
      min: [null, 4, null, null, null],
      max: [null, 6, null, null, null],
    },
  });
  t.equal(memoryBegin({ start: 980, step: 10, count: 5 }, memory), 1000);
  t.equal(memoryBegin({ start: 980, step: 60, count: 5 }, memory), 1020);
  t.match(
    columnsOf({ start: 960, step: 60, count: 2 }, all, memory, [slot(960, 50)]),
    { 'cpu.load': { mean: [50, 3] } },
    'a slot that begins before memory is wholly from the store',
  );
  t.match(columnsOf({ start: 960, step: 60, count: 2 }, all, memory), { 'cpu.load': { mean: [1, 3] } });
});

const payloadOf = (names: readonly string[], count: number): HistoryPayload => ({
  start: 1_795_249_000,
  step: 10,
  count,
  series: Object.fromEntries(
    names.map((name) => [
      name,
      {
        unit: '°C',
        mean: Array.from({ length: count }, (_, at) => (at % 3 === 0 ? null : at / 10)),
        ...(name === 'fine' ? {} : { min: [], max: [] }),
      },
    ]),
  ),
  unknown: ['ä"\\', 'x'],
  marks: [{ at: 1.5, kind: 'start', seconds: null, text: 'It began.' }],
  events: [],
});

const now = (slice: () => void) => slice();

t.test('the parts are the payload as JSON.stringify writes it', async (t) => {
  for (const payload of [
    payloadOf([], 0),
    payloadOf(['a'], 0),
    payloadOf(['a', 'fine', 'disk.read//mnt/ä "b"', '__proto__'], 500),
    { ...payloadOf(['a'], 2), available: ['a', 'b'] },
  ])
    t.equal((await inTurns(encodeHistory(payload), now)).join(''), JSON.stringify(payload));
});

t.test('a long answer lets others have their turn between its columns', async (t) => {
  const payload = payloadOf(
    Array.from({ length: 46 }, (_, at) => `series ${at}`),
    720,
  );
  let turns = 0;
  const parts = await inTurns(encodeHistory(payload), (slice) => {
    turns++;
    slice();
  });
  t.equal(parts.join('').length, JSON.stringify(payload).length);
  t.ok(turns <= 46 * 4, `${turns} turns`);
  t.comment(`figure: ${46 * 720 * 3} numbers in ${turns + 1} turns`);
});

t.test('an answer is its parts, and its ETag that of the bytes', async (t) => {
  const [one, same, other] = [['a', 'ä'], ['aä'], ['b']].map((parts) => new HistoryAnswer(parts));
  t.strictSame([one?.json, one?.bytes.toString(), one?.length], ['aä', 'aä', 2]);
  t.equal(one?.etag, same?.etag);
  t.not(one?.etag, other?.etag);
});
