/** docs/evidence/security-proof.md lists exactly the attacks of the suite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { withoutSieges } from '../siege/page.ts';
import { fixedCells, tableLines } from './attack/proof-page.ts';
import { ROWS } from './attack/rows.ts';
import { STRANGERS_NAMES } from './rebinding/names.ts';
import { sectionOf } from './rebinding/section.ts';

const file = path.resolve(import.meta.dirname, '../../../../docs/evidence/security-proof.md');
const page = readFileSync(file, 'utf8');
const lines = tableLines(withoutSieges(page));

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

t.test(
  'each of 40 names a stranger can re-point got in everywhere without the guard, and nowhere with it',
  async (t) => {
    const section = sectionOf(page).split('\n');
    const names = new Set(STRANGERS_NAMES.map(({ name }) => name));
    t.ok(names.size >= 40, `${names.size} names`);
    t.equal(section.filter((line) => line.startsWith('| `')).length, names.size);
    for (const name of names) {
      const line = section.find((text) => text.startsWith(`| \`${name}\` |`)) ?? '';
      // Two browsers, three addresses.
      t.match(line, / \| 6 of 6 \| 0 of 6: 403 host_not_allowed \|$/, name);
    }
  },
);
