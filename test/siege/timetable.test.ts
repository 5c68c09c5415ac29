/** The measure of the siege itself: it finds each event that is late or missing. */
import t from 'tap';
import { EventCounter } from './event-counter.ts';
import { KeepAlive, Timetable } from './timetable.ts';

const INTERVAL_MS = 1000;

/** Events of one subscriber at `times`; returns the lateness of each. */
function latenessOf(timetable: Pick<Timetable, 'arrive'>, times: readonly number[]): readonly number[] {
  return times.map((atMs) => Math.round(timetable.arrive(0, atMs)));
}

const punctual = (count: number) => Array.from({ length: count }, (_, i) => 500 + i * INTERVAL_MS);

t.test('punctual events are not late, and none is missing', async (t) => {
  const timetable = new Timetable(INTERVAL_MS);
  t.strictSame(new Set(latenessOf(timetable, punctual(20))), new Set([0]));
  t.equal(timetable.missing(20_000), 0);
  t.equal(timetable.events, 20);
});

t.test('a late event is late by its distance from the phase, and the next one is not', async (t) => {
  for (const lateMs of [30, 240, 600, 950]) {
    const timetable = new Timetable(INTERVAL_MS);
    latenessOf(timetable, punctual(20));
    t.strictSame(latenessOf(timetable, [20_500 + lateMs, 21_500]), [lateMs, 0]);
    t.equal(timetable.missing(22_000), 0);
  }
});

t.test('a missing event is found, also when all later ones are punctual', async (t) => {
  const timetable = new Timetable(INTERVAL_MS);
  latenessOf(timetable, punctual(20));
  const [afterGap] = latenessOf(timetable, [21_500, 22_500, 23_500]);
  t.equal(afterGap, INTERVAL_MS, 'late by one interval');
  t.equal(timetable.missing(24_000), 1);
});

t.test('a subscriber that gets nothing any more is missing every event', async (t) => {
  const timetable = new Timetable(INTERVAL_MS);
  latenessOf(timetable, punctual(5));
  t.equal(timetable.missing(14_600), 9);
});

t.test('the phase is that of the majority', async (t) => {
  const timetable = new Timetable(INTERVAL_MS);
  // The first arrival, the reference, is 400 ms late.
  timetable.arrive(1, 900);
  for (let i = 1; i < 20; i++) {
    timetable.arrive(1, 500 + i * INTERVAL_MS);
    timetable.arrive(2, 510 + i * INTERVAL_MS);
  }
  t.ok(timetable.arrive(1, 20_500) <= 10);
  t.ok(timetable.arrive(2, 20_700) >= 190);
});

t.test('a pulse that drifts is never late, and one that pauses is late once', async (t) => {
  const pulse = new KeepAlive(INTERVAL_MS);
  const drifting = Array.from({ length: 2000 }, (_, i) => 500 + i * (INTERVAL_MS + 1));
  t.ok(Math.max(...latenessOf(pulse, drifting)) <= 1);
  const lastMs = drifting.at(-1) ?? 0;
  t.equal(pulse.missing(lastMs + INTERVAL_MS), 0);
  t.strictSame(latenessOf(pulse, [lastMs + 1300, lastMs + 2300]), [300, 0]);
  t.equal(pulse.missing(lastMs + 2300), 0, 'late is not missing');
  t.equal(pulse.events, 2002);
});

t.test('a pulse counts what is missing between two events, and after the last one', async (t) => {
  const pulse = new KeepAlive(INTERVAL_MS);
  latenessOf(pulse, punctual(20));
  latenessOf(pulse, [22_500]);
  t.equal(pulse.missing(22_500), 2);
  t.equal(pulse.missing(27_600), 6);
});

t.test('each event of a stream is counted once, however the stream is split', async (t) => {
  const stream = Buffer.from(
    `HTTP/1.1 200 OK\r\n\r\n${'17\r\ndata: {"data":"data: "}\n\n\r\n'.repeat(9)}data: `,
  );
  for (let size = 1; size <= stream.length; size++) {
    const counter = new EventCounter();
    let count = 0;
    for (let at = 0; at < stream.length; at += size) count += counter.take(stream.subarray(at, at + size));
    if (count !== 9) t.fail(`${count} events in pieces of ${size} bytes`);
  }
  t.pass('9 events in pieces of every size');
});
