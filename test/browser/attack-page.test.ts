/** docs/evidence/security-proof.md lists exactly the attacks of the suite. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { withoutSieges } from '../siege/page.ts';
import { fixedCells, kindsOf, tableLines } from './attack/proof-page.ts';
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

t.test('each attack is on the page, and the page has no other', async (t) => {
  const kinds = kindsOf(ROWS);
  t.equal(kinds.flat().length, ROWS.length);
  t.strictSame(
    lines.map((line) => line.split(' | ').slice(0, 2).join(' | ').concat(' |')),
    kinds.map(fixedCells),
  );
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
    const names = STRANGERS_NAMES.map(({ name }) => `\`${name}\``);
    t.ok(new Set(names).size >= 40, `${names.length} names`);
    const rows = [...sectionOf(page).matchAll(/^\| [^|]+ \| (`.*`) \| (.*) \|$/gm)];
    t.strictSame(rows.flatMap(([, list = '']) => list.split(', ')).sort(), names.toSorted());
    for (const [, list = '', results] of rows) {
      // Two browsers, three addresses.
      const visits = list.split(', ').length * 6;
      t.equal(results, `${visits} of ${visits} | 0 of ${visits}: 403 host_not_allowed`, list);
    }
  },
);
