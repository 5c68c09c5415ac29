/** docs/security-proof.md lists exactly the attacks of the suite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { fixedCells, tableLines } from './attack/proof-page.ts';
import { ROWS } from './attack/rows.ts';

const file = path.resolve(import.meta.dirname, '../../../../docs/security-proof.md');
const lines = tableLines(readFileSync(file, 'utf8'));

t.test('there are at least 40 attacks, each with a different method', async (t) => {
  t.ok(ROWS.length >= 40, `${ROWS.length} rows`);
  t.equal(new Set(ROWS.map(({ id }) => id)).size, ROWS.length, 'each id once');
  t.equal(new Set(ROWS.map(({ from, does, method }) => `${from} ${does} ${method}`)).size, ROWS.length);
});

t.test('each attack has its line on the page, and the page has no other', async (t) => {
  t.equal(lines.length, ROWS.length);
  for (const row of ROWS) {
    const line = lines.find((text) => text.startsWith(`| ${row.id} |`)) ?? '';
    t.ok(line.startsWith(fixedCells(row)), row.id);
  }
});

t.test(
  'on the page, each attack succeeded in every attempt without the guard, and in none with it',
  async (t) => {
    for (const line of lines) {
      const [, good, of] = / (\d+) of (\d+) \(/.exec(line) ?? [];
      const [, failed, tried] = /nothing, (\d+) of (\d+): /.exec(line) ?? [];
      t.ok(Number(of) > 0 && good === of, line);
      t.ok(Number(tried) > 0 && failed === tried, line);
    }
  },
);
