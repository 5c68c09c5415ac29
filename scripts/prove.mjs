// The long runs: slow/ and prove/ with HOSTWIRE_FULL=1, soaks, ten thousand subscribers. Writes docs/evidence/proofs.md with
// date, commit and the first figures, and all figures to build/prove/.   node scripts/prove.mjs [NAME…]   (all proofs without a name; `--list` names them)
// Proofs that serve HTTP run on both engines; 'NAME on node' is the second of them alone, 'NAME on uws' the first.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { provideNeeds } from './needs.mjs';
import { runsOnBothEngines, runTests, sourceOf, testFiles } from './test.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const page = path.join(root, 'docs/evidence/proofs.md');

/** Returns tests of other tiers that do more in a proof: a full form, time limits (test/helpers/limits.ts), figures. */
function othersWithProofs() {
  const isProof = /HOSTWIRE_FULL|\brepetitions\(|\bcheckTime\(|figure: /;
  return [undefined, 'system', 'solo']
    .flatMap(testFiles)
    .filter((file) => isProof.test(readFileSync(path.join(root, sourceOf(file)), 'utf8')));
}

/** The suffix of the rows of Node's own engine, and one for the command line that leaves them out. */
const ON_NODE = ' on node';
const ON_FIRST = ' on uws';

const FULL = { HOSTWIRE_FULL: '1' };

/** Returns `{ name, file, engine }` of each proof: `name` is that of its row; no engine: the first that loads. */
function proofs() {
  const files = [...testFiles('prove'), ...testFiles('slow'), ...othersWithProofs()];
  return files.flatMap((file) => {
    const name = file
      .replace(/^build\/ts\/test\//, '')
      .replace(/\.test\.js$/, '')
      .replace(/^prove\//, '')
      .replace(/\/(?:slow|solo|system)\//, '/');
    const onNode = { name: `${name}${ON_NODE}`, file, engine: 'node' };
    return [{ name, file, engine: undefined }, ...(runsOnBothEngines(file) ? [onNode] : [])];
  });
}

function output(command, args) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8' }).stdout.trim();
}

/** Returns the rows of the page by name: a proof that does not run now keeps its last row. */
function knownRows() {
  const rows = new Map();
  if (!existsSync(page)) return rows;
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    const name = /^\| ([\w/ -]+) \| \d{4}-/.exec(line)?.[1];
    if (name !== undefined) rows.set(name, line);
  }
  return rows;
}

function writePage(rows) {
  writeFileSync(
    page,
    `# Proofs

The latest results of \`npm run prove\`: soaks, and the full forms of tests that are too slow for \`npm run check\`. \`npm run prove NAME\` runs one again. Each row has the commit of its run and the first figures that it printed; all of them are in build/prove/ after a run. **fails**: a limit of the test was missed.

Measured on: ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.type()} ${os.release()}.

| proof | date | commit | result | figures |
|---|---|---|---|---|
${[...rows.keys()]
  .sort()
  .map((name) => rows.get(name))
  .join('\n')}
`,
  );
}

/** Characters of figures in a row; proofs with dozens of figures would make the page unreadable. */
const FIGURES_LENGTH = 600;

/** Returns the first figures that fit into a row, and writes all of them to build/prove/. */
function recordFigures(name, figures) {
  const folder = path.join(root, 'build/prove');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${name.replaceAll('/', '-')}.txt`), `${figures.join('\n')}\n`);
  let length = 0;
  const shown = figures.filter((figure) => {
    length += figure.length;
    return length <= FIGURES_LENGTH;
  });
  const rest = figures.length - shown.length;
  return [...shown, ...(rest > 0 ? [`and ${rest} more figures`] : [])].join('; ');
}

function build(...steps) {
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', ...steps], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

provideNeeds({ proofs: true, windows: true });
build('missing', 'tests', 'programs');
const wanted = process.argv.slice(2);
if (wanted.includes('--list')) {
  for (const { name } of proofs()) console.log(name);
  process.exit(0);
}
const isWanted = ({ name }) =>
  wanted.length === 0 ||
  [name, name.replace(ON_NODE, ''), `${name}${ON_FIRST}`].some((each) => wanted.includes(each));
const chosen = proofs().filter(isWanted);
if (chosen.length === 0) {
  console.error(`no proof is called ${wanted.join(' or ')}; --list names them`);
  process.exit(1);
}
// Minutes of compiling, so only for proofs whose files mention them.
const needsSanitizers = ({ file }) => /sanitiz/i.test(readFileSync(path.join(root, sourceOf(file)), 'utf8'));
if (chosen.some(needsSanitizers)) build('sanitized', 'sanitized-addon');
const rows = knownRows();
const commit = output('git', ['rev-parse', '--short', 'HEAD']);
let failures = 0;
for (const { name, file, engine } of chosen) {
  const started = Date.now();
  const {
    counts,
    text,
    failures: messages,
  } = runTests({ files: [file], limitSeconds: 5400, env: FULL, engine });
  const seconds = Math.round((Date.now() - started) / 1000);
  for (const message of messages) console.log(`FAILED: ${message}`);
  const isGood = counts.failed === 0 && counts.skipped === 0 && counts.passed > 0;
  if (!isGood) failures++;
  const figures = [...text.matchAll(/^ *# figure: (.*)$/gm)].map((match) => match[1].replaceAll('|', '/'));
  const date = new Date().toISOString().slice(0, 10);
  const all = counts.passed + counts.failed + counts.skipped;
  const result = isGood ? 'holds' : `**fails** (${all - counts.passed} of ${all})`;
  rows.set(
    name,
    `| ${name} | ${date} | ${commit} | ${result}, ${seconds} s | ${recordFigures(name, figures)} |`,
  );
  writePage(rows);
  console.log(`${name}: ${result}, ${counts.passed} passed, ${seconds} s`);
}
process.exitCode = failures === 0 ? 0 : 1;
