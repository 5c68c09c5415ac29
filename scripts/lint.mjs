// Lint and format: Biome for TypeScript and JSON, clang-format and clang-tidy for C++, regular expressions, commit messages, the engine's files.
//   node scripts/lint.mjs [--write | --deep]
// `--write` fixes what it can. `--deep` removes the limit on the paths that Clang's analyzer follows (`npm run prove`).
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { listCommands } from './addon.mjs';
import { checkCommits } from './commits.mjs';
import { findDifferences } from './engine.mjs';
import { findCommand } from './needs.mjs';
import { findSlowRegexps } from './regexps.mjs';
import { tidy } from './tidy.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const isWriting = process.argv.includes('--write');
const isDeep = process.argv.includes('--deep');
/** Maximum number of nodes of the analyzer's graph per function: the default of 225,000 takes three times as long. */
const ANALYZER_NODES = 50_000;
let failures = 0;

function fail(title, text) {
  failures++;
  console.error(`${title} failed\n${text}`);
}

function run(title, command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (result.status !== 0) fail(title, `${result.stdout}${result.stderr}`);
}

function sources(...endings) {
  return readdirSync(path.join(root, 'native'), { recursive: true })
    .map((file) => path.join('native', String(file)))
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .sort();
}

function skip(title, packageName) {
  console.error(`skipped: ${title} (apt-get install ${packageName})`);
  if (process.env.CI === 'true') failures++;
}

async function lintTidy() {
  const command = findCommand('clang-tidy-14', 'clang-tidy');
  if (command === undefined) return skip('clang-tidy', 'clang-tidy');
  listCommands();
  const files = sources('.cc').filter((file) => !/\/(unsupported|fuzz|windows)\//.test(file));
  const words = ['-Xclang', '-analyzer-config', '-Xclang', `max-nodes=${ANALYZER_NODES}`];
  const complaints = await tidy(command, files, isDeep ? [] : words.map((word) => `--extra-arg=${word}`));
  for (const text of complaints) fail('clang-tidy', text);
}

function lintCommits() {
  const { faults, reason } = checkCommits();
  if (reason !== undefined) console.error(`not checked: commit messages (${reason})`);
  else if (faults.length > 0) fail('commit messages (see CONTRIBUTING.md)', faults.join('\n'));
}

run('biome', path.join(root, 'node_modules/.bin/biome'), ['check', ...(isWriting ? ['--write'] : []), '.']);

const format = findCommand('clang-format-14', 'clang-format');
if (format === undefined) skip('clang-format', 'clang-format');
else
  run('clang-format', format, [...(isWriting ? ['-i'] : ['--dry-run', '-Werror']), ...sources('.cc', '.h')]);

if (!isWriting) {
  lintCommits();
  const differences = findDifferences();
  if (differences.length > 0) fail('files of uWebSockets.js (docs/engines.md)', differences.join('\n'));
  const slow = findSlowRegexps();
  if (slow.length > 0) fail('regular expressions', slow.join('\n'));
  await lintTidy();
}
process.exitCode = failures === 0 ? 0 : 1;
