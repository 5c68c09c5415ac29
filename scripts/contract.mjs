// Prints the contract of the interface, statement by statement: each is a test, whose name begins with the statement's id
// (`[4.head] [I.stream] …`, or one bare `1.matrix …`).
//   npm run contract [TEXT…]   (only lines that contain each TEXT: `npm run contract 8.`, `npm run contract keys`)
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const ID = '(?:I|[1-9]\\d?)\\.[A-Za-z0-9][A-Za-z0-9.-]*';
/** Also of helpers that make several tests: `testBothWays(t, '…')`. */
const TEST_NAME = /\btest[A-Z]?\w*\(\s*(?:t,\s*)?(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const OPENING = /^(?:\[[^\]]*\]\s*)+/;
const BARE = new RegExp(`^(${ID})(?:\\s+|$)`);

/** Returns the texts in brackets at the start of a test's name, or the one bare id, and the statement after them. */
function splitName(name) {
  const bare = BARE.exec(name);
  if (bare !== null) return { ids: [bare[1]], statement: name.slice(bare[0].length) };
  const opening = OPENING.exec(name)?.[0] ?? '';
  const ids = [...opening.matchAll(/\[([^\]]*)\]/g)].map(([, id]) => id);
  return { ids, statement: name.slice(opening.length) };
}

export const isId = (text) => new RegExp(`^${ID}$`).test(text);

/** Returns `{ ids, statement, file }` of each test with an id; `file` is below test/, without its ending. */
export function statements() {
  return readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .flatMap((name) => {
      const file = name.replace(/\.test\.ts$/, '').replaceAll(path.sep, '/');
      const text = readFileSync(path.join(root, 'test', name), 'utf8');
      return [...text.matchAll(TEST_NAME)]
        .map(([, , title]) => ({ ...splitName(title), file }))
        .filter(({ ids }) => ids.length > 0);
    });
}

/** Returns a line per id and statement, by number and name. */
function contractLines() {
  const lines = statements().flatMap(({ ids, statement, file }) =>
    ids.map((id) => `${id}  ${statement}  (${file})`.replaceAll(/\s+/g, ' ')),
  );
  return [...new Set(lines)].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2);
  for (const line of contractLines()) if (wanted.every((text) => line.includes(text))) console.log(line);
}
