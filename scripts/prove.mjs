// The long runs: full forms of the tests, soaks, ten thousand subscribers. Writes docs/proofs.md with date, commit and
// figures.   node scripts/prove.mjs [NAME…]   (all proofs without a name; `--list` names them)
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { provideNeeds } from './needs.mjs';
import { runTests } from './test.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const page = path.join(root, 'docs/proofs.md');

/** Test files whose full form HOSTWIRE_FULL=1 switches on, beside those in test/prove/. */
const FULL_FORMS = [
  'http/mutations.test.js',
  'http/fanout-limits.test.js',
  'http/served-meanwhile.test.js',
  'http/comings-and-goings.test.js',
  'http/stalled-crowd.test.js',
  'http/socket-mutations.test.js',
  'http/socket-crowd.test.js',
  'access/socket-matrix.test.js',
  'client/restarts.test.js',
  'client/cuts.test.js',
  'config/mutations.test.js',
  'contract/detail-strace.test.js',
  'config/reload-streams.test.js',
  'dbus/answer-first.test.js',
  'dbus/reconnect.test.js',
  'native/failing-calls.test.js',
  'browser/open-for-long.test.js',
];

function proofs() {
  const folder = path.join(root, 'build/ts/test/prove');
  const own = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.test.js')) : [];
  const files = [...own.map((file) => `prove/${file}`), ...FULL_FORMS].filter(
    (file) =>
      existsSync(path.join(root, 'build/ts/test', file)) &&
      existsSync(path.join(root, 'test', file.replace(/\.js$/, '.ts'))),
  );
  return files.map((file) => ({
    name: file.replace(/^prove\//, '').replace(/\.test\.js$/, ''),
    file: path.join('build/ts/test', file),
  }));
}

function output(command, args) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8' }).stdout.trim();
}

/** The rows the page has, by name: a proof that is not run now keeps its last one. */
function knownRows() {
  const rows = new Map();
  if (!existsSync(page)) return rows;
  for (const line of readFileSync(page, 'utf8').split('\n')) {
    const name = /^\| ([\w/-]+) \| \d{4}-/.exec(line)?.[1];
    if (name !== undefined) rows.set(name, line);
  }
  return rows;
}

function writePage(rows) {
  writeFileSync(
    page,
    `# Proofs

The last results of \`npm run prove\`: the full forms of tests that \`npm run check\` runs in short, and soaks. Each row has the commit of its run and the figures that it printed.

Machine of the rows: ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.type()} ${os.release()}.

| proof | date | commit | result | figures |
|---|---|---|---|---|
${[...rows.keys()]
  .sort()
  .map((name) => rows.get(name))
  .join('\n')}
`,
  );
}

provideNeeds({ proofs: true });
const build = spawnSync(process.execPath, ['scripts/build.mjs', 'missing', 'tests'], {
  cwd: root,
  stdio: 'inherit',
});
if (build.status !== 0) process.exit(1);
const wanted = process.argv.slice(2);
if (wanted.includes('--list')) {
  for (const { name } of proofs()) console.log(name);
  process.exit(0);
}
const rows = knownRows();
const commit = output('git', ['rev-parse', '--short', 'HEAD']);
let failures = 0;
for (const { name, file } of proofs()) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const started = Date.now();
  const { counts, text } = runTests({ files: [file], prove: true, env: { HOSTWIRE_FULL: '1' } });
  const seconds = Math.round((Date.now() - started) / 1000);
  const isGood = counts.failed === 0 && counts.skipped === 0 && counts.passed > 0;
  if (!isGood) failures++;
  const figures = [...text.matchAll(/^ *# figure: (.*)$/gm)].map((match) => match[1].replaceAll('|', '/'));
  const date = new Date().toISOString().slice(0, 10);
  const result = `${isGood ? 'holds' : 'FAILS'} (${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped; ${seconds} s)`;
  rows.set(name, `| ${name} | ${date} | ${commit} | ${result} | ${figures.join('; ')} |`);
  writePage(rows);
  console.log(`${name}: ${result}`);
}
process.exitCode = failures === 0 ? 0 : 1;
