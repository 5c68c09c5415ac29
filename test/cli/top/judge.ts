/** Rules that every screen of `hostwire top` must follow, whatever its size. */
import type { Test } from 'tap';
import { measure } from '#src/cli/top/text.js';
import type { Size } from './terminal.ts';

export const PANELS = ['CPU', 'cores', 'Memory', 'Network', 'Disks', 'GPU', 'Sensors', 'Media'] as const;

/** All panels are there once, no line is longer than the terminal, and the last line has the keys. */
export function judgeScreen(t: Test, lines: readonly string[], { columns, rows }: Size): void {
  t.equal(lines.length, rows, `${rows} lines`);
  for (const line of lines) t.ok(measure(line) <= columns, `at most ${columns} columns: ${line}`);
  // The charts of one column end there; the right one of two may have none.
  if (columns < 120)
    t.ok(
      lines.some((line) => measure(line) === columns),
      'up to the last column',
    );
  const text = lines.join('\n');
  // A title is at the beginning of a line or of the right column, and its text nine columns on.
  for (const title of PANELS) {
    const found = text.match(new RegExp(`(?:^| {2})${title.padEnd(9)}(?=[^ ]| {1,3}\\d)`, 'gm')) ?? [];
    t.equal(found.length, 1, `one panel ${title}`);
  }
  t.match(text, /\n +PID USER +CPU +MEMORY NAME/, 'the heading of the processes');
  t.match(lines.at(-1), /^q quit .* k end process$/, 'the keys');
}

/** The lines of the panels in two columns begin with the titles of both. */
export function judgeColumns(t: Test, lines: readonly string[], { columns }: Size): void {
  const isWide = columns >= 120;
  const row = lines.find((line) => line.startsWith('CPU ')) ?? '';
  t.equal(/ Disks {3}/.test(row), isWide, isWide ? 'two columns' : 'one column');
}
