/** docs/contract.md and the tests say the same: every statement has a test that carries its id, and the reverse. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ID = '(?:I|[1-9])\\.[A-Za-z0-9][A-Za-z0-9.-]*';
const TEST_NAME = /\btest\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const BRACKETED = new RegExp(`\\[(${ID})\\]`, 'g');
const BARE = new RegExp(`^${ID}(?= |$)`);

interface Row {
  readonly id: string;
  readonly statement: string;
  readonly where: string;
}

const rows: readonly Row[] = readFileSync(path.join(ROOT, 'docs/contract.md'), 'utf8')
  .split('\n')
  .filter((line) => new RegExp(`^\\| ${ID} \\|`).test(line))
  .map((line) => {
    const [, id = '', statement = '', where = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { id, statement, where };
  });

/** The ids at the beginning of a test's name: `[4.head] [I.stream] …`, or one bare `1.matrix …`. */
function idsOf(name: string): readonly string[] {
  const opening = /^(?:\[[^\]]*\]\s*)+/.exec(name)?.[0];
  if (opening === undefined) return BARE.exec(name) ?? [];
  return [...opening.matchAll(BRACKETED)].map(([, id = '']) => id);
}

/** Id → the test files (without their ending, below test/) that carry it. */
function idsInTests(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    const text = readFileSync(path.join(ROOT, 'test', file), 'utf8');
    for (const [, , name = ''] of text.matchAll(TEST_NAME))
      for (const id of idsOf(name)) {
        const files = found.get(id) ?? new Set();
        found.set(id, files.add(file.replace(/\.test\.ts$/, '').replaceAll(path.sep, '/')));
      }
  }
  return found;
}

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

t.test('the files named beside a statement carry its id', async (t) => {
  const wrong = rows
    .filter((row) => !isLater(row) && !row.where.startsWith('as '))
    .flatMap(({ id, where }) =>
      where.split(', ').flatMap((file) => (carried.get(id)?.has(file) ? [] : [`${id}: ${file}`])),
    );
  t.strictSame(wrong, []);
  const late = rows.filter((row) => isLater(row) && carried.has(row.id)).map(({ id }) => id);
  if (late.length > 0) t.comment(`no longer for later: ${late.join(', ')}`);
});
