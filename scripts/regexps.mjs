// Finds regular expressions of src/ and web/ that take more than linear time, whoever's text they see.
//   node scripts/regexps.mjs   (a part of `npm run lint`)
// One that is slow by design and sees only the owner's own texts is not excepted: a bounded repetition or a
// lookbehind in front of the repetition makes it linear.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

// Runs in this thread: results from recheck's worker are lost now and then on a busy machine.
process.env.RECHECK_SYNC_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @returns {{ line: number, text: string }[]} the literals of a source, in order */
function literalsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node))
      found.push({
        line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
        text: node.getText(),
      });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

// recheck counts a match that exceeds its time as slow, so on a busy machine every literal is: steps alone decide.
const UNTIMED = { timeout: null, incubationTimeout: null, attackTimeout: null, seedingTimeout: null };

/** Returns why a literal is not linear, or undefined. */
function faultOf(literal) {
  const end = literal.lastIndexOf('/');
  const found = checkSync(literal.slice(1, end), literal.slice(end + 1), UNTIMED);
  if (found.status === 'safe') return undefined;
  return found.status === 'vulnerable' ? `takes ${found.complexity.summary} time` : 'could not be judged';
}

/** Returns a line for each slow literal of src/ and web/: `FILE:LINE: LITERAL takes 2nd degree polynomial time`. */
export function findSlowRegexps() {
  return ['src', 'web'].flatMap((tree) =>
    readdirSync(path.join(root, tree), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => path.join(tree, name))
      .sort()
      .flatMap((file) =>
        literalsOf(file, readFileSync(path.join(root, file), 'utf8')).flatMap(({ line, text }) => {
          const fault = faultOf(text);
          return fault === undefined ? [] : [`${file}:${line}: ${text} ${fault}`];
        }),
      ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const slow = findSlowRegexps();
  if (slow.length > 0) console.error(slow.join('\n'));
  process.exitCode = slow.length === 0 ? 0 : 1;
}
