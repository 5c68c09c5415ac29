/** Work that is put off to a later turn of the event loop. */
import process from 'node:process';
import t from 'tap';
import { deferToNextTurn } from '#src/clock.js';

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
