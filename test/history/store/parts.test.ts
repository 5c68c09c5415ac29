/** The parts of the store that touch no file: blobs, the queue, and why the service was away. */
import { deflateRawSync } from 'node:zlib';
import t from 'tap';
import { decodeValues, emptyValues, encodeValues } from '#src/history/store/blobs.js';
import { explainAbsence, type LastWrite } from '#src/history/store/lifetimes.js';
import { unpackAnswer } from '#src/history/store/pack.js';
import { Queue } from '#src/history/store/queue.js';
import { createRandom } from '../../helpers/random.ts';
import { BEGIN, slotAt } from './harness.ts';

t.test('blobs: what was encoded is decoded, bit by bit', async (t) => {
  const random = createRandom(20);
  for (let round = 0; round < 200; round++) {
    const ids = Uint32Array.from({ length: random.below(50) }, (_, i) => i * 3 + random.below(3));
    const values = emptyValues(ids, 6);
    for (const plane of [values.mean, values.min, values.max])
      for (let i = 0; i < plane.length; i++)
        if (random.below(4) > 0) plane[i] = (random.below(2 ** 31) - 2 ** 30) / 7;
    t.strictSame(decodeValues(encodeValues(values), 6, 3), values);
  }
});

t.test('blobs: a damaged one is none', async (t) => {
  const blob = encodeValues(emptyValues(Uint32Array.of(1, 2), 6));
  t.ok(decodeValues(blob, 6, 3));
  t.equal(decodeValues(blob, 1, 4), undefined, 'of another kind');
  t.equal(decodeValues(new Uint8Array(0), 6, 3), undefined);
  t.equal(decodeValues(blob.subarray(0, 5), 6, 3), undefined);
  t.equal(decodeValues(deflateRawSync(Buffer.alloc(3)), 6, 3), undefined);
  t.equal(decodeValues(deflateRawSync(Buffer.from([255, 255, 255, 255])), 6, 3), undefined);
  t.equal(decodeValues(deflateRawSync(Buffer.alloc(9 * 2 ** 20)), 6, 3), undefined, 'a bomb');
});

const HEAD = { now: BEGIN, sinceBoot: 0, maxBytes: 2 ** 30 };

t.test('the queue: a minute at a time, and all of it again after a failure', async (t) => {
  const queue = new Queue();
  for (let at = BEGIN; at < BEGIN + 50; at += 10) t.equal(queue.put(slotAt(at)), false);
  t.equal(queue.put(slotAt(BEGIN + 50)), true, 'its minute is over');
  const timesOf = (batch: ReturnType<Queue['take']>) => batch?.packed.slots.map(({ at }) => at - BEGIN);
  t.strictSame(timesOf(queue.take(HEAD)), [0, 10, 20, 30, 40, 50]);
  queue.put(slotAt(BEGIN + 60));
  t.equal(queue.take(HEAD), undefined, 'one batch at a time');
  queue.settle(false);
  t.strictSame(timesOf(queue.take(HEAD)), [0, 10, 20, 30, 40, 50, 60]);
  queue.settle(true);
  t.strictSame(timesOf(queue.take(HEAD)), []);
  queue.settle(true);
  queue.put(slotAt(BEGIN + 70));
  t.equal(queue.put(slotAt(BEGIN + 120)), true, 'a gap has swallowed the end of the minute');
});

t.test('the queue is bounded', async (t) => {
  const queue = new Queue();
  for (let i = 0; i < 100; i++) queue.put(slotAt(BEGIN + i * 10));
  queue.take(HEAD);
  t.equal(queue.takeLost(), 34);
  for (let i = 100; i < 150; i++) queue.put(slotAt(BEGIN + i * 10));
  for (let i = 0; i < 1000; i++) queue.mark({ at: BEGIN, kind: 'suspend', seconds: i, text: '' });
  queue.settle(false);
  const batch = queue.take(HEAD);
  t.equal(queue.takeLost(), 50, 'the oldest');
  t.equal(batch?.packed.slots.at(-1)?.at, BEGIN + 1490);
  t.equal(batch?.marks.length, 200);
  t.equal(batch?.marks.at(-1)?.seconds, 999);
});

t.test(
  'the queue: what lies after a clock that was set back goes, also from a batch that failed',
  async (t) => {
    const queue = new Queue();
    for (const second of [0, 10, 20, 30]) queue.put(slotAt(BEGIN + second));
    queue.take(HEAD);
    queue.mark({ at: BEGIN + 15, kind: 'clock', seconds: -25, text: '' });
    queue.put(slotAt(BEGIN + 20, 1));
    queue.settle(false);
    const batch = queue.take(HEAD);
    t.equal(batch?.dropAfter, BEGIN + 15);
    t.strictSame(
      batch?.packed.slots.map(({ at, series }) => [at - BEGIN, series.length]),
      [
        [0, 3],
        [20, 1],
      ],
    );
  },
);

t.test('answers: no value, no entry', async (t) => {
  const column = Float32Array.of(1, Number.NaN, 3);
  const columns = [{ name: 'a', unit: '%', mean: column, min: column, max: column }];
  const { slots } = unpackAnswer({ start: 600, step: 60, columns, marks: [], events: [] });
  t.strictSame(
    slots.map(({ at, values }) => [at, values.get('a')?.mean]),
    [
      [600, 1],
      [720, 3],
    ],
  );
});

/** Booted 1000 s before the last write. */
const LAST: LastWrite = { now: BEGIN, sinceBoot: 1000, isStopped: false };
const kinds = (marks: ReturnType<typeof explainAbsence>['marks']) =>
  marks.map(({ kind, at, seconds }) => [kind, at - BEGIN, seconds]);

t.test('away: the first start of all', async (t) => {
  const { marks } = explainAbsence(undefined, BEGIN, { now: BEGIN + 1, sinceBoot: 50 });
  t.strictSame(kinds(marks), [['start', 0, null]]);
});

t.test('away: stopped, and the machine stayed up', async (t) => {
  const { marks } = explainAbsence({ ...LAST, isStopped: true }, BEGIN + 300, {
    now: BEGIN + 301,
    sinceBoot: 1301,
  });
  t.strictSame(kinds(marks), [['start', 300, 300]]);
  t.match(marks[0]?.text, '5 min after it was stopped.');
});

t.test('away: killed, and the machine stayed up', async (t) => {
  const { marks } = explainAbsence(LAST, BEGIN + 90, { now: BEGIN + 90, sinceBoot: 1090 });
  t.strictSame(kinds(marks), [
    ['crash', 0, 90],
    ['start', 90, 90],
  ]);
  t.match(marks[0]?.text, /while the machine stayed up.*90 s/);
});

t.test('away: the machine was restarted in between', async (t) => {
  // Includes a machine that has been up for longer than before, which its time since boot alone does not show.
  for (const [away, sinceBoot] of [
    [600, 20],
    [86_400, 5000],
  ] as const) {
    const moment = { now: BEGIN + away, sinceBoot };
    const bootedAt = away - sinceBoot;
    t.strictSame(kinds(explainAbsence(LAST, BEGIN + away, moment).marks), [
      ['crash', 0, away],
      ['boot', bootedAt, null],
      ['start', away, away],
    ]);
    t.strictSame(kinds(explainAbsence({ ...LAST, isStopped: true }, BEGIN + away, moment).marks), [
      ['boot', bootedAt, null],
      ['start', away, away],
    ]);
  }
});

t.test('away: a service that was restarted just after the machine is not a second boot', async (t) => {
  const young = { now: BEGIN, sinceBoot: 3, isStopped: false };
  t.strictSame(kinds(explainAbsence(young, BEGIN + 1, { now: BEGIN + 1, sinceBoot: 4 }).marks), [
    ['crash', 0, 1],
    ['start', 1, 1],
  ]);
});

t.test('away: the clock was set in between', async (t) => {
  // The machine was up all the time, so its time since boot gives the duration.
  const some = explainAbsence(LAST, BEGIN + 560, { now: BEGIN + 560, sinceBoot: 1060 });
  t.strictSame(kinds(some.marks), [
    ['crash', 0, 60],
    ['clock', 560, 500],
    ['start', 560, 60],
  ]);
  const back = explainAbsence(LAST, BEGIN - 3540, { now: BEGIN - 3540, sinceBoot: 1060 });
  t.equal(back.isClockBehind, true);
  t.strictSame(kinds(back.marks), [
    ['crash', 0, 60],
    ['clock', -3540, -3600],
    ['start', -3540, 60],
  ]);
  const rebooted = explainAbsence(LAST, BEGIN - 3540, { now: BEGIN - 3540, sinceBoot: 10 });
  t.strictSame(kinds(rebooted.marks), [
    ['crash', 0, null],
    ['clock', -3540, null],
    ['boot', -3550, null],
    ['start', -3540, null],
  ]);
});
