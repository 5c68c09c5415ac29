/** `hostwire top` in a real terminal at four sizes, with all kinds of hardware. */
import t from 'tap';
import { judgeColumns, judgeScreen } from '../judge.ts';
import { startLively } from '../lively.ts';
import { NO_TMUX, openTerminal } from '../terminal.ts';

const SIZES = [
  { columns: 60, rows: 20 },
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
  { columns: 200, rows: 60 },
];

for (const size of SIZES)
  t.test(`[9.top-sizes] ${size.columns}x${size.rows}`, { skip: NO_TMUX }, async (t) => {
    const service = await startLively(t);
    const terminal = openTerminal(t, size, [service.baseUrl]);
    await terminal.reached('two points', (text) => /[⣀-⣿]{2}/.test(text));
    const lines = terminal.screen();
    t.comment(lines.join('\n'));
    judgeScreen(t, lines, size);
    judgeColumns(t, lines, size);
  });
