import t from 'tap';
import { readPast, withPast } from '#src/cli/top/past.js';
import { Session } from '#src/cli/top/session.js';
import { FIRST_POINTS, MAX_POINTS, type Traces, withPoints } from '#src/cli/top/view.js';
import type { HistoryOptions, HistoryPayload, HostSocket } from '#src/client/client.js';
import { until } from '../../helpers/until.ts';
import { SAMPLE, viewOf } from './views.ts';

const NOW = SAMPLE.timestamp;

function payloadOf(
  seconds: number,
  step: number,
  series: Readonly<Record<string, number | null>>,
): HistoryPayload {
  const start = Math.floor((NOW - seconds) / step) * step;
  const count = Math.ceil((NOW + 1 - start) / step);
  return {
    start,
    step,
    count,
    unknown: [],
    marks: [],
    events: [],
    series: Object.fromEntries(
      Object.entries(series).map(([name, value]) => [name, { unit: '', mean: Array(count).fill(value) }]),
    ),
  };
}

const sampleAt = (timestamp: number, load: number) => ({
  ...SAMPLE,
  timestamp,
  ...(SAMPLE.cpu === undefined ? {} : { cpu: { ...SAMPLE.cpu, current_load: load } }),
});

const traced = (...points: readonly (readonly [ago: number, load: number])[]): Traces =>
  points.reduce((traces, [ago, load]) => withPoints(traces, sampleAt(NOW - ago, load)), FIRST_POINTS);

t.test('the points before the first sample: by the second, then by slots, then none', async (t) => {
  const fine = payloadOf(60, 1, { 'cpu.load': 20, 'network.receive': 1, 'network.send': 2 });
  const coarse = payloadOf(200, 10, { 'cpu.load': 10, 'memory.used_percent': 40 });
  const { cpu, memory, network, gpu, times } = withPast(traced([0, 99]), [fine, coarse], 1);
  const before = (points: readonly unknown[], ago: number) => points[points.length - 1 - ago];
  for (const points of [cpu, memory, network, gpu, times]) t.equal(points.length, MAX_POINTS);
  t.equal(before(cpu, 0), 99, 'the sample');
  t.strictSame(
    [1, 60, 61, 200, 211].map((ago) => before(cpu, ago)),
    [20, 20, 10, 10, null],
  );
  t.strictSame(
    [1, 100, 300].map((ago) => before(memory, ago)),
    [40, 40, null],
  );
  t.strictSame(
    [0, 1, 100].map((ago) => before(network, ago)),
    [3072, 3, null],
    'both directions together',
  );
  t.equal(before(gpu, 1), null);
  t.equal(before(times, 7), NOW - 7);
});

t.test('an outage is filled, and what was shown before stays', async (t) => {
  const traces = traced([14, 1], [12, 2], [10, 3], [2, 4], [0, 5]);
  const past = [payloadOf(9, 1, { 'cpu.load': 50 })];
  t.strictSame(withPast(traces, past, 2).cpu.slice(-9), [null, 1, 2, 3, 50, 50, 50, 4, 5]);
  t.equal(withPast(traces, [], 2), traces, 'without a history nothing changes');
  t.equal(withPast(FIRST_POINTS, past, 2), FIRST_POINTS);
});

t.test('the requests, and answers that are not a history', async (t) => {
  const asked: HistoryOptions[] = [];
  const answering = (answer: (options: HistoryOptions) => unknown) =>
    ({
      history: async (options: HistoryOptions) => {
        asked.push(options);
        return answer(options);
      },
    }) as unknown as HostSocket; // Nothing else is called.
  const sound = payloadOf(9, 1, { 'cpu.load': 50 });
  for (const [interval, spans] of [
    [
      1,
      [
        [-300, 1],
        [-512, 10],
      ],
    ],
    [
      2,
      [
        [-300, 1],
        [-1024, 10],
      ],
    ],
    [
      15,
      [
        [-300, 1],
        [-7680, 20],
      ],
    ],
  ] as const) {
    asked.length = 0;
    t.strictSame(
      await readPast(
        answering(() => sound),
        interval,
        9,
      ),
      [sound, sound],
    );
    t.strictSame(
      asked.map(({ since, step }) => [since, step]),
      spans,
      `every ${interval} s`,
    );
  }
  t.match(asked[0], { series: ['cpu.load', 'memory.used_percent'], timeoutMs: 9 });
  for (const wrong of [
    null,
    {},
    { ...sound, step: 0 },
    { ...sound, series: { a: null } },
    { ...sound, series: { a: {} } },
  ])
    t.strictSame(
      await readPast(
        answering(() => wrong),
        1,
        9,
      ),
      [],
      JSON.stringify(wrong),
    );
  const refused = answering(() => Promise.reject(new Error('Unknown op.')));
  t.strictSame(await readPast(refused, 1, 9), []);
});

t.test('[9.top-history] the history is read at the start, and once more after an outage', async (t) => {
  const listeners = new Map<string, (value: never) => void>();
  let asked = 0;
  const connected = { version: '0', protocol: 2, run: '1', clock: 0, features: {} };
  const socket = {
    on: (type: string, listener: (value: never) => void) => void listeners.set(type, listener),
    get: async () => ({ stats: sampleAt(NOW, 99) }),
    history: async () => {
      asked++;
      return payloadOf(60, 1, { 'cpu.load': 20 });
    },
    close: () => undefined,
  } as unknown as HostSocket; // Nothing else is called without features.
  const view = viewOf({ connected, traces: traced([0, 99]) });
  const session = new Session(socket, view, 1, () => undefined);
  const isReached = async (count: number) => {
    await until(() => asked >= count);
    // One sample more, which must ask for nothing.
    const { sample } = session.view;
    await until(() => session.view.sample !== sample);
    t.equal(asked, count);
  };
  const ended = session.run();
  await isReached(2);
  t.ok(session.view.traces.cpu.includes(20), 'the chart begins before the first sample');
  listeners.get('connected')?.(connected as never);
  await isReached(4);
  session.close();
  await ended;
});
