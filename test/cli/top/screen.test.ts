/** Output to the terminal: only changed lines, never queued, and the terminal's state is restored. */
import t from 'tap';
import { Screen } from '#src/cli/top/screen.js';

/** A terminal that takes `room` bytes per write. */
function terminalOf() {
  const terminal = {
    room: Number.MAX_SAFE_INTEGER,
    text: '',
    isGone: false,
    write(bytes: Uint8Array): number {
      if (terminal.isGone) throw new Error('EIO');
      const taken = bytes.subarray(0, terminal.room);
      terminal.text += Buffer.from(taken).toString();
      return taken.length;
    },
  };
  return terminal;
}

/** Returns the output since the last call. */
const take = (terminal: { text: string }) => {
  const { text } = terminal;
  terminal.text = '';
  return text;
};

t.test('[9.top-bytes] only lines that have changed are written', async (t) => {
  const terminal = terminalOf();
  const screen = new Screen(terminal.write, () => t.fail('it is there'));
  screen.draw(['early']);
  t.equal(take(terminal), '', 'nothing before it is entered');
  screen.enter();
  t.ok(take(terminal).startsWith('\x1b[?1049h'));
  screen.draw(['a', 'b', 'c']);
  t.equal(take(terminal), '\x1b[1H\x1b[Ka\x1b[2H\x1b[Kb\x1b[3H\x1b[Kc');
  screen.draw(['a', 'B', 'c']);
  t.equal(take(terminal), '\x1b[2H\x1b[KB');
  screen.draw(['a', 'B', 'c']);
  t.equal(take(terminal), '');
  screen.clear();
  screen.draw(['a', 'B']);
  t.equal(take(terminal), '\x1b[1H\x1b[Ka\x1b[2H\x1b[KB');
  screen.leave();
});

t.test('[9.top-slow] a terminal that is slow gets the newest lines, and nothing queues', async (t) => {
  const terminal = terminalOf();
  const screen = new Screen(terminal.write, () => t.fail('it is there'));
  screen.enter();
  take(terminal);
  terminal.room = 5;
  screen.draw(['first']);
  terminal.room = 0;
  for (let at = 0; at < 1000; at++) screen.draw([`later ${at}`]);
  terminal.room = Number.MAX_SAFE_INTEGER;
  await new Promise((resolve) => setTimeout(resolve, 200));
  screen.draw(['newest']);
  t.equal(take(terminal), '\x1b[1H\x1b[Kfirst\x1b[1H\x1b[Knewest');
  screen.leave();
});

t.test('[9.top-restored] the screen is restored once, also in the middle of a line', async (t) => {
  const terminal = terminalOf();
  const screen = new Screen(terminal.write, () => t.fail('it is there'));
  screen.leave();
  t.equal(take(terminal), '', 'not entered');
  screen.enter();
  take(terminal);
  terminal.room = 2;
  screen.draw(['text']);
  terminal.room = 7;
  screen.leave();
  screen.leave();
  t.equal(take(terminal), '\x1b[\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m\x1b[?1049l');
});

t.test('[9.top-restored] a terminal that has gone is reported, and leaving it does not throw', async (t) => {
  const terminal = terminalOf();
  let lost = 0;
  const screen = new Screen(terminal.write, () => lost++);
  screen.enter();
  terminal.isGone = true;
  screen.draw(['a']);
  screen.draw(['b']);
  t.equal(lost, 1);
  t.doesNotThrow(() => screen.leave());
  const blocked = terminalOf();
  const other = new Screen(blocked.write, () => lost++);
  other.enter();
  blocked.room = 0;
  other.leave();
  t.pass('one that takes nothing is given up');
});
