/** A standard stream whose reader is slow, or gone, or comes back. */
import t from 'tap';
import { Output } from '#src/log/output.js';

function setUp() {
  let written = '';
  const state = { room: Number.POSITIVE_INFINITY, isBroken: false };
  const retries: (() => void)[] = [];
  const output = new Output({
    take(bytes) {
      if (state.isBroken) throw new Error('EPIPE');
      const taken = Math.min(state.room, bytes.length);
      state.room -= taken;
      written += bytes.toString('utf8', 0, taken);
      return taken;
    },
    describeLost: (lines) => `lost ${lines}\n`,
    later: (act) => retries.push(act),
  });
  return { output, state, retries, written: () => written };
}

t.test('lines that do not fit are kept, and follow in their order', async (t) => {
  const { output, state, retries, written } = setUp();
  state.room = 3;
  output.write('first\n');
  output.write('second\n');
  t.equal(written(), 'fir');
  t.equal(retries.length, 1, 'one retry for all');
  state.room = 5;
  retries.pop()?.();
  t.equal(written(), 'first\nse');
  state.room = Number.POSITIVE_INFINITY;
  output.write('third\n');
  t.equal(written(), 'first\nsecond\nthird\n');
  t.equal(output.lost, 0);
});

t.test('lines beyond 64 KiB are lost, and counted where they are missing', async (t) => {
  const { output, state, written } = setUp();
  state.room = 0;
  const line = `${'x'.repeat(1023)}\n`;
  for (let i = 0; i < 100; i++) output.write(line);
  t.equal(output.lost, 36);
  state.room = Number.POSITIVE_INFINITY;
  output.write('last\n');
  t.equal(written(), `${line.repeat(64)}lost 36\nlast\n`);
});

t.test('a stream that cannot be written never throws, and reports what it lost when it can be', async (t) => {
  const { output, state, written } = setUp();
  state.isBroken = true;
  for (let i = 0; i < 5; i++) output.write(`${i}\n`);
  t.equal(output.lost, 5);
  state.isBroken = false;
  output.write('again\n');
  t.equal(written(), 'lost 5\nagain\n');
  state.isBroken = true;
  output.write('no\n');
  output.write('no\n');
  state.isBroken = false;
  output.write('again\n');
  t.equal(written(), 'lost 5\nagain\nlost 2\nagain\n', 'a report that was lost is counted with its lines');
});

t.test('a line that was cut is ended before the next', async (t) => {
  const { output, state, written } = setUp();
  state.room = 2;
  output.write('abc\n');
  output.write('kept\n');
  state.isBroken = true;
  output.write('lost\n');
  state.isBroken = false;
  state.room = Number.POSITIVE_INFINITY;
  output.write('next\n');
  t.equal(written(), 'ab\nlost 3\nnext\n');
});
