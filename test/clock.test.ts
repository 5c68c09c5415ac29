/** Work that is put off to a later turn of the event loop, and a moment that follows the clock. */
import process from 'node:process';
import t from 'tap';
import { deferToNextTurn, runInSlices, type Steps, thisMoment } from '#src/clock.js';

const nextTurn = () => new Promise<void>((resolve) => deferToNextTurn(resolve));

t.test('in order, in a later turn, and before the callbacks of setImmediate', async (t) => {
  const order: string[] = [];
  setImmediate(() => order.push('immediate'));
  const done = new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  deferToNextTurn(() => order.push('first'));
  deferToNextTurn(() => {
    order.push('second');
    deferToNextTurn(() => order.push('later'));
  });
  order.push('now');
  await done;
  await nextTurn();
  t.strictSame(order.slice(0, 3), ['now', 'first', 'second']);
  t.ok(order.indexOf('later') > 2);
  t.ok(order.includes('immediate'));
});

t.test('a callback that throws does not stop the others', async (t) => {
  const thrown = new Promise<unknown>((resolve) => process.once('uncaughtException', resolve));
  let isSecondDone = false;
  deferToNextTurn(() => {
    throw new RangeError('of a slice');
  });
  deferToNextTurn(() => {
    isSecondDone = true;
  });
  t.match(await thrown, { message: 'of a slice' });
  t.ok(isSecondDone);
});

t.test('the process waits for it', async (t) => {
  let turns = 0;
  while (turns < 1000) {
    await nextTurn();
    turns++;
  }
  t.equal(turns, 1000);
});

t.test('[3.system-started] a moment follows the clock when it is set, and nothing else', async (t) => {
  let bootMs = 5_000;
  let unixMs = 1_999.9;
  const moment = thisMoment(
    () => bootMs,
    () => unixMs,
  );
  const later = (passedMs: number, setMs: number) => {
    bootMs += passedMs;
    unixMs += passedMs + setMs;
    return moment();
  };
  t.equal(moment(), 1);
  t.equal(later(60_000, 0.3), 1, 'readings of two clocks are not of one moment');
  t.equal(later(60_000, -0.6), 1);
  t.equal(later(86_400_000, 0), 1, 'a day, asleep or awake');
  t.equal(later(10, 1_700_000_000_000), 1_700_000_001, 'the time has arrived from the network');
  t.equal(later(10, -3_600_000), 1_699_996_401);
});

t.test('a slice ends after some milliseconds, and the next one is put off', async (t) => {
  let ms = 0;
  const slices: (() => void)[] = [];
  const steps: number[] = [];
  function* count(): Steps<void> {
    for (let step = 1; step <= 10; step++) {
      steps.push(step);
      ms++;
      yield;
    }
  }
  runInSlices(
    count(),
    (slice) => slices.push(slice),
    () => ms,
  );
  t.strictSame(steps, [1, 2, 3, 4]);
  slices.shift()?.();
  t.strictSame(steps.slice(4), [5, 6, 7, 8]);
  slices.shift()?.();
  t.equal(steps.length, 10);
  t.equal(slices.length, 0, 'done');
});
