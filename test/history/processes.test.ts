/** When what runs is read for the history, and what is kept of it. */
import t from 'tap';
import type { SeriesPoint } from '#src/history/history.js';
import { ProcessHistory } from '#src/history/processes.js';
import type { ProcessColumns, ProcessHost } from '#src/host/processes.js';
import { ProcessReadings } from '#src/processes/readings.js';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { processColumns } from '../helpers/fakes/process-columns.ts';

/** The points of a machine with two processors. */
const pointsOf = (load: number | null): readonly SeriesPoint[] => [
  { name: 'cpu.load', unit: '%', value: load },
  { name: 'cpu.core/0', unit: '%', value: load },
  { name: 'cpu.core/1', unit: '%', value: load },
];
const IDLE = pointsOf(12);
const BUSY = pointsOf(12.5);

function setUp() {
  const clock = new FakeClock();
  const config = new FakeConfig();
  const begunAtMs: number[] = [];
  let latest: ProcessColumns | null = null;
  let wantsDisks = false;
  let timer: unknown;
  const state = { readMs: 20, spentMs: 5, isHung: false, burnt: 0 };
  const columns = () => {
    const seconds = clock.now() / 1000;
    const rows = [
      { pid: 1, name: 'init', cpu: 0, memory: 10, read: 0, written: 0 },
      { pid: 2, name: 'burn', cpu: state.burnt, memory: 5, read: 0, written: state.burnt * 1000 },
    ];
    const disks = wantsDisks && !state.isHung ? {} : { readBytes: null, writeBytes: null };
    const times = { sinceBootNs: clock.sinceBoot() * 1e6, spentNs: state.spentMs * 1e6 };
    wantsDisks = false;
    return processColumns(seconds, rows, { ...times, ...disks });
  };
  const host: Pick<ProcessHost, 'latest' | 'ask' | 'includeDisks'> = {
    latest: () => latest,
    includeDisks: () => {
      wantsDisks = true;
    },
    ask(inMs) {
      clock.clearTimer(timer);
      timer = clock.setTimer(() => {
        begunAtMs.push(clock.now());
        const made = columns();
        clock.setTimer(() => {
          latest = made;
        }, state.readMs);
      }, inMs);
    },
  };
  // Only these are asked for readings.
  const readings = new ProcessReadings({ host: host as ProcessHost, clock, config });
  const history = new ProcessHistory({ readings, clock, config });
  /** Samples every `everySeconds`. */
  const run = async (
    seconds: number,
    points: readonly SeriesPoint[],
    isWanted = false,
    everySeconds = 10,
  ) => {
    for (let at = 0; at < seconds; at += everySeconds) {
      history.onPoints(points, isWanted);
      await clock.advance(everySeconds * 1000);
    }
  };
  /** The time by the machine's clock. */
  const now = () => (1e9 + clock.now()) / 1000;
  return { clock, config, history, readings, begunAtMs, state, run, now };
}

const gaps = (times: readonly number[]) => times.slice(1).map((time, i) => time - (times[i] ?? 0));

t.test('[3.history-ran] every 10 s while the machine is busy, otherwise every minute', async (t) => {
  const { begunAtMs, run } = setUp();
  await run(20, IDLE);
  t.equal(begunAtMs.length, 2, 'two at first, for a window');
  await run(600, IDLE);
  t.strictSame(new Set(gaps(begunAtMs.slice(1))), new Set([60_000]));
  const before = begunAtMs.length;
  await run(100, BUSY);
  t.equal(begunAtMs.length - before, 10);
  await run(100, IDLE, true);
  t.equal(begunAtMs.length - before, 20, 'and while a watch rule waits');
  await run(100, BUSY, false, 1);
  t.equal(begunAtMs.length - before, 30, 'also with a sample per second');
});

t.test('[3.history-ran] samples that are early or late change nothing', async (t) => {
  const { clock, history, begunAtMs } = setUp();
  for (let i = 0; i < 40; i++) {
    history.onPoints(BUSY, false);
    await clock.advance(i % 2 === 0 ? 9990 : 10_010);
  }
  t.equal(begunAtMs.length, 40);
});

t.test('[3.history-ran] the programs that ran are kept with their time and window', async (t) => {
  const { clock, history, run, state, now } = setUp();
  await run(20, IDLE);
  state.burnt = 1000;
  const at = now();
  history.onPoints(BUSY, false);
  await clock.advance(400);
  t.match(history.at(at), {
    takenAt: at,
    windowSeconds: 10,
    cpu: [{ name: 'burn', count: 1, value: 50 }],
    memory: [{ name: 'init' }, { name: 'burn' }],
    disk: [{ name: 'burn', value: 100_000 }],
  });
  t.match(history.at(at - 9), { cpu: [{ name: 'burn' }] });
  t.match(history.take({ at: Math.floor(at / 10) * 10 }), { cpu: [{ name: 'burn' }] });
  t.match(history.running, { cpu: [{ name: 'burn' }] });
  await clock.advance(80_000);
  t.equal(history.running, null, 'too long ago');
});

t.test('[3.history-pace] not more than 1 % of a processor, with those of samples', async (t) => {
  const { begunAtMs, run, state } = setUp();
  state.spentMs = 300;
  await run(20, BUSY);
  const before = begunAtMs.length;
  await run(600, BUSY, false, 1);
  const times = begunAtMs.slice(before);
  t.ok(times.length >= 19, `${times.length} in 600 s`);
  t.ok(Math.min(...gaps(times)) >= 30_000, 'a hundred times as long after the one before');
});

t.test('[3.history-pace] readings of samples are shared', async (t) => {
  const { clock, history, readings, begunAtMs, now } = setUp();
  for (let i = 0; i < 60; i++) {
    readings.ask({ sinceBootNs: clock.sinceBoot() * 1e6 }, 1000, 1000);
    history.onPoints(BUSY, false);
    await clock.advance(1000);
  }
  t.ok(begunAtMs.length <= 61, `${begunAtMs.length} readings in 60 s`);
  let found = 0;
  for (let at = now() - 50; at < now(); at += 10) if (history.at(at)?.disk) found++;
  t.equal(found, 5, 'with disks');
});

t.test('[3.history-ran] a reading without disks is kept when there is no other', async (t) => {
  const { history, run, state, now, clock } = setUp();
  state.isHung = true;
  await run(40, BUSY);
  t.match(history.at(now() - 5), { memory: [{}, {}], disk: null });
  state.isHung = false;
  state.readMs = 900;
  await run(40, BUSY);
  state.burnt = 10;
  await run(10, BUSY);
  t.match(history.at(now() - 5), { disk: [{ name: 'burn' }] }, 'one that is late is picked up all the same');
  history.close();
  t.equal(clock.timers, 0);
});

t.test('[3.history-ran] features.enable_processes off: nothing is read, nothing is kept', async (t) => {
  const { history, config, run, begunAtMs, now } = setUp();
  await run(40, BUSY);
  const before = begunAtMs.length;
  config.features = { ...config.features, enable_processes: false };
  await run(40, BUSY);
  t.equal(begunAtMs.length, before);
  t.equal(history.at(now() - 45), undefined);
  t.equal(history.running, undefined);
});

t.test('[3.history-ran] after a sleep, and with another history.minutes', async (t) => {
  const { clock, history, config, run, now, state } = setUp();
  await run(60, BUSY);
  clock.suspend(3_600_000);
  state.burnt = 100;
  await run(20, BUSY);
  t.match(history.at(now() - 15)?.windowSeconds, 10, 'suspended time is not part of a window');
  const { minutes } = config.current.history;
  config.current = { ...config.current, history: { ...config.current.history, minutes: minutes * 2 } };
  const bytes = history.byteLength;
  history.reconfigure();
  t.ok(history.byteLength > bytes * 1.9);
  t.match(history.at(now() - 15)?.windowSeconds, 10);
  await run(200, IDLE);
  await clock.advance(600_000);
  await run(20, BUSY);
  t.equal(history.at(now() - 20)?.cpu, null, 'an average over 10 minutes is none');
});
