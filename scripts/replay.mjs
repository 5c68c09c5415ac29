// Replays the fixtures, what fuzzing found and mutations of them through the parsers, with sanitizers; then says which
// of their lines that reaches:  node scripts/replay.mjs [ROUNDS]
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CORPUS, compileParsers, FIXTURES, PARSERS, REPLAY, root, run, SANITIZERS } from './parsers.mjs';

const LEAST_LINES_COVERED = 95;
const rounds = process.argv[2] ?? '200';

/** Lines of each parser that the saved inputs reach, as gcov counts them: `{ file, percent, lines }`. */
function lineCoverage() {
  const folder = path.join(root, 'build/replay-coverage');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const binary = path.join(folder, 'replay');
  compileParsers({ compiler: 'g++', flags: ['-O0', '--coverage'], program: REPLAY, binary });
  run(binary, ['0', FIXTURES, CORPUS], { isQuiet: true });
  const counts = readdirSync(folder).filter((file) => file.endsWith('.gcda'));
  const text = run('gcov', ['-n', ...counts.map((file) => path.join(folder, file))], { isQuiet: true });
  return [...text.matchAll(/^File '([^']+)'\nLines executed:([\d.]+)% of (\d+)$/gm)]
    .filter((match) => PARSERS.includes(match[1]))
    .map((match) => ({ file: match[1], percent: Number(match[2]), lines: Number(match[3]) }));
}

const binary = path.join(root, 'build/replay');
mkdirSync(path.dirname(binary), { recursive: true });
const flags = ['-O1', `-fsanitize=${SANITIZERS}`, '-fno-sanitize-recover=all'];
compileParsers({ compiler: 'g++', flags, program: REPLAY, binary });
run(binary, [rounds, FIXTURES, CORPUS]);

const covered = lineCoverage();
for (const { file, percent, lines } of covered) console.log(`${file}: ${percent} % of ${lines} lines`);
const isEnough = covered.every(({ percent }) => percent >= LEAST_LINES_COVERED);
if (covered.length !== PARSERS.length || !isEnough) {
  console.error(`the saved inputs do not reach ${LEAST_LINES_COVERED} % of the lines of every parser`);
  process.exitCode = 1;
}
