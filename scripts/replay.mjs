// Replays the fixtures, the inputs that fuzzing found and mutations of both through the parsers, under sanitizers; then
// reports the share of each parser's lines that the saved inputs reach:  node scripts/replay.mjs [ROUNDS]
// `node scripts/build.mjs sanitized` builds the program.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CORPUS, FIXTURES, PARSERS, root, run } from './parsers.mjs';

const MIN_LINES_COVERED = 95;
const rounds = process.argv[2] ?? '50';
const binary = path.join(root, 'build/native/address/replay');
const objects = path.join(root, 'build/sanitized/address');

const counts = () =>
  readdirSync(objects, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.gcda'))
    .map((file) => path.join(objects, file));

/** Returns the lines of each parser that the saved inputs reach, as gcov counts them: `{ file, percent, lines }`. */
function lineCoverage() {
  for (const file of counts()) rmSync(file);
  run(binary, ['0', FIXTURES, CORPUS], { isQuiet: true });
  const text = run('gcov', ['-n', '-r', '-s', root, ...counts()], { isQuiet: true });
  return [...text.matchAll(/^File '([^']+)'\nLines executed:([\d.]+)% of (\d+)$/gm)]
    .filter((match) => PARSERS.includes(match[1]))
    .map((match) => ({ file: match[1], percent: Number(match[2]), lines: Number(match[3]) }));
}

run(binary, [rounds, FIXTURES, CORPUS]);
const covered = lineCoverage();
for (const { file, percent, lines } of covered) console.log(`${file}: ${percent} % of ${lines} lines`);
const isEnough = covered.every(({ percent }) => percent >= MIN_LINES_COVERED);
if (covered.length !== PARSERS.length || !isEnough) {
  console.error(`the saved inputs do not reach ${MIN_LINES_COVERED} % of the lines of every parser`);
  process.exitCode = 1;
}
