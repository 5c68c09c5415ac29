// Writes the "shown in" column of docs/evidence/contract.md from the ids in the names of the tests.
//   node scripts/contract.mjs   (test/docs.test.ts fails while the column is not what this would write)
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'docs/evidence/contract.md');
const ID = '(?:I|[1-9]\\d?)\\.[A-Za-z0-9][A-Za-z0-9.-]*';
/** Also of helpers that make several tests: `testBothWays(t, '…')`. */
const TEST_NAME = /\btest[A-Z]?\w*\(\s*(?:t,\s*)?(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const BRACKETED = new RegExp(`\\[(${ID})\\]`, 'g');
const BARE = new RegExp(`^${ID}(?= |$)`);
const ROW = new RegExp(`^\\| (${ID}) \\|`);

/** Returns the ids at the start of a test's name: `[4.head] [I.stream] …`, or one bare `1.matrix …`. */
function idsOf(name) {
  const opening = /^(?:\[[^\]]*\]\s*)+/.exec(name)?.[0];
  if (opening === undefined) return BARE.exec(name) ?? [];
  return [...opening.matchAll(BRACKETED)].map(([, id]) => id);
}

/** Maps each id to the sorted test files (below test/, without their ending) that carry it. */
export function idsInTests() {
  const found = new Map();
  for (const file of readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.test.ts')) continue;
    const name = file.replace(/\.test\.ts$/, '').replaceAll(path.sep, '/');
    for (const [, , title] of readFileSync(path.join(root, 'test', file), 'utf8').matchAll(TEST_NAME))
      for (const id of idsOf(title)) found.set(id, (found.get(id) ?? new Set()).add(name));
  }
  return found;
}

/** Returns the rows of the page: `{ id, statement, where }`. */
export function contractRows(text = readFileSync(PAGE, 'utf8')) {
  return text.split('\n').flatMap((line) => {
    if (!ROW.test(line)) return [];
    const [, id, statement, where] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return [{ id, statement, where }];
  });
}

/** Returns the page with its column rewritten from the tests; rows marked `later` or `as ID` keep their mark. */
export function withShownIn(text, ids) {
  return text
    .split('\n')
    .map((line) => {
      const id = ROW.exec(line)?.[1];
      const files = id === undefined ? undefined : ids.get(id);
      if (files === undefined) return line;
      const cells = line.split(/(?<!\\)\|/);
      if (/^\s*as /.test(cells[3])) return line;
      cells[3] = ` ${[...files].join(', ')} `;
      return cells.join('|');
    })
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(PAGE, withShownIn(readFileSync(PAGE, 'utf8'), idsInTests()));
