/** Marks of sleeps and of clocks that were set. */
import t from 'tap';
import { type Clocks, inWords, marksBetween } from '#src/history/gaps.js';

const UNIX = 1_700_000_000;

/** `awake` and `boot`: seconds on the two clocks; `set`: by how much the machine's clock is ahead of the second. */
const clocks = (awake: number, boot = awake, set = 0): Clocks => ({
  takenAtNs: awake * 1e9,
  sinceBootNs: boot * 1e9,
  unixMs: (UNIX + boot + set) * 1000,
});

const kinds = (before: Clocks, after: Clocks) =>
  marksBetween(before, after).map(({ kind, seconds }) => `${kind} ${seconds}`);

t.test('nothing happened', async (t) => {
  t.strictSame(kinds(clocks(10), clocks(20)), []);
  t.strictSame(kinds(clocks(10), clocks(20, 22)), [], 'as short as a rounding');
  t.strictSame(kinds(clocks(10), clocks(20, 20, 0.9)), [], 'a slow correction');
  t.strictSame(kinds(clocks(10), clocks(4000, 4000, -1)), []);
});

t.test('[4.history-marks] a sleep, and a clock that was set', async (t) => {
  t.strictSame(marksBetween(clocks(10), clocks(12, 3672)), [
    { at: UNIX + 3672, kind: 'suspend', seconds: 3660, text: 'The machine slept for 1 h 1 min.' },
  ]);
  t.strictSame(marksBetween(clocks(10), clocks(12, 12, -7200)), [
    { at: UNIX + 12 - 7200, kind: 'clock', seconds: -7200, text: 'The clock was set back by 2 h.' },
  ]);
  t.strictSame(marksBetween(clocks(10), clocks(12, 12, 1.25)), [
    { at: UNIX + 13.25, kind: 'clock', seconds: 1.3, text: 'The clock was set forward by 1 s.' },
  ]);
  t.strictSame(kinds(clocks(10), clocks(12, 100, 50)), ['suspend 88', 'clock 50'], 'both');
});

t.test('times in words', async (t) => {
  const words = [0.04, 0.7, 45, 60, 61.4, 3600, 3660, 86_399, 90_000, 864_061].map(inWords);
  t.strictSame(words, [
    ...['0 s', '1 s', '45 s', '1 min', '1 min 1 s', '1 h', '1 h 1 min', '23 h 59 min', '1 d 1 h', '10 d'],
  ]);
});
