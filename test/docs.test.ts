/** docs/contract.md and the tests say the same: every statement has a test that carries its id, and the reverse. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Row {
  readonly id: string;
  readonly statement: string;
  readonly where: string;
}

const { idsInTests, contractRows, withShownIn } = (await import(
  new URL('../../../scripts/contract.mjs', import.meta.url).href
)) as {
  idsInTests(): ReadonlyMap<string, ReadonlySet<string>>;
  contractRows(text: string): readonly Row[];
  withShownIn(text: string, ids: ReadonlyMap<string, ReadonlySet<string>>): string;
};
const page = readFileSync(path.join(ROOT, 'docs/contract.md'), 'utf8');
const rows = contractRows(page);
const carried = idsInTests();
const isLater = (row: Row) => row.where.startsWith('later');

t.test('the page has rows, each id once, each with a statement', async (t) => {
  t.ok(rows.length > 200, `${rows.length} rows`);
  const ids = rows.map(({ id }) => id);
  t.strictSame(
    ids.filter((id, i) => ids.indexOf(id) !== i),
    [],
    'no id twice',
  );
  t.strictSame(
    rows.filter(({ statement, where }) => statement === '' || where === ''),
    [],
  );
});

t.test('every statement that is not for later has a test that carries its id', async (t) => {
  const alias = (row: Row) => /^as (\S+)$/.exec(row.where)?.[1];
  const unshown = rows.filter((row) => !isLater(row) && !carried.has(alias(row) ?? row.id));
  t.strictSame(
    unshown.map(({ id }) => id),
    [],
  );
});

t.test('every id that a test carries is on the page', async (t) => {
  const known = new Set(rows.map(({ id }) => id));
  t.strictSame(
    [...carried].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${[...files].join(', ')}`),
    [],
  );
});

t.test('the column "shown in" is what scripts/contract.mjs writes', async (t) => {
  t.equal(page, withShownIn(page, carried), 'run: node scripts/contract.mjs');
});
