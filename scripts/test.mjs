// Runs the tests with tap and ends with the line "N passed, N failed[, N skipped]". In CI a skip is a failure.
//   node scripts/test.mjs [--coverage] [--node PATH] [--contract | FILE.test.js…]
// Without files: test/**, four at a time, then those in solo/ folders, one at a time; then those that serve HTTP once
// more, on Node's own engine. With --contract: of these only the tests of the contract and of HTTP, without solo/. Other
// commands run the rest: `npm run prove` runs slow/ and prove/, `npm run check` runs sanitized/ and windows/.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { failuresOf, slowestOf } from './failures.mjs';
import { provideNeeds } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
/** Keeps every process of a test off this machine's buses: no test may be able to power it off. */
const DEAD_BUSES = {
  DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
};
/** Tests wait for the greater part of their time: two at a time leave half of two cores idle. */
const JOBS = 4;
const MIN_LINES_COVERED = 95;
const coverageFolder = path.join(root, 'build/coverage');

/** Folders whose tests run alone, or not in `npm test`. */
const TIERS = ['prove', 'sanitized', 'slow', 'solo', 'windows'];

/** The compiled test files of `tier` (one of TIERS), or of no tier if it is undefined. */
export function testFiles(tier) {
  // Listed from the sources, because build/ may still hold tests that were removed.
  return readdirSync(path.join(root, 'test'), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => TIERS.find((name) => file.split(path.sep).includes(name)) === tier)
    .map((file) => path.join('build/ts/test', file.replace(/\.ts$/, '.js')))
    .sort();
}

/** The rooms and proofs that run on both engines, and how one of their files says that it serves. */
const ON_BOTH_ENGINES =
  /\/test\/(?:(?:access|client|contract|http|hub)\/|config\/slow\/reload-streams|prove\/(?:dead-peers|hub-siege|siege|socket-idle|stream-stalls)\.)/;
const SERVES =
  /\b(?:createEngine|startService|startHere|startHub|startOnClock|startRoutes|startProbed|serveSockets|serveStreams|loadTestEngine|runSieges)\b/;

/** What `--contract` runs: all but the two slowest files of HTTP, which take a quarter of the time. */
const CONTRACT = /\/test\/(?:contract|http)\/(?!(?:unread-answers|tls-readers)\.)/;

export const sourceOf = (file) => file.replace(/^build\/ts\//, '').replace(/\.js$/, '.ts');

/** Whether a test starts the service or an engine, and is to be run on both. */
export function runsOnBothEngines(file) {
  const source = sourceOf(file);
  return ON_BOTH_ENGINES.test(`/${source}`) && SERVES.test(readFileSync(path.join(root, source), 'utf8'));
}

const servingTests = (tier) => testFiles(tier).filter(runsOnBothEngines);

function countsOf(text) {
  const summary =
    /^# \{ total: (\d+)(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?(?:, todo: (\d+))? \}$/m.exec(
      text,
    );
  const count = (index) => Number(summary?.[index] ?? 0);
  return { passed: count(2), failed: count(3), skipped: count(4) + count(5) };
}

/** The HTTP engines that `node` can load, which is found out as in the service; tests run on the first one. */
function enginesOf(node) {
  const args = ['--input-type=module', '-e', "import 'uWebSockets.js'"];
  const loads = spawnSync(node, args, { cwd: root, stdio: 'ignore' }).status === 0;
  return loads ? ['uws', 'node'] : ['node'];
}

/** Runs `files` under `node`; returns tap's counts, its TAP text and the failures. */
export function runTests({
  files,
  node = process.execPath,
  engine = process.env.HOSTWIRE_TEST_ENGINE ?? enginesOf(node)[0],
  coverage = false,
  env = {},
  jobs = JOBS,
  limitSeconds = 900,
}) {
  // Of its own while it runs: two runs at once in one checkout don't mix their results.
  const output = path.join(root, `build/test-${process.pid}.tap`);
  mkdirSync(path.dirname(output), { recursive: true });
  const tap = openSync(output, 'w');
  const args = [path.join(root, 'scripts/tap.mjs'), String(jobs), String(limitSeconds), ...files];
  const result = spawnSync(node, args, {
    cwd: root,
    stdio: ['ignore', tap, 'inherit'],
    env: {
      ...process.env,
      ...DEAD_BUSES,
      // The helpers that start a service read it (test/helpers/service/engine.ts).
      HOSTWIRE_TEST_ENGINE: engine,
      ...env,
      ...(coverage ? { NODE_V8_COVERAGE: coverageFolder } : {}),
    },
  });
  closeSync(tap);
  const text = readFileSync(output, 'utf8');
  renameSync(output, path.join(root, 'build/test.tap'));
  const counts = countsOf(text);
  if (counts.skipped > 0)
    for (const line of text.match(/^ *(?:not )?ok .*# (?:SKIP|TODO).*$/gm) ?? []) console.error(line.trim());
  if (result.status !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, text, failures: failuresOf(text) };
}

/**
 * The tests of npm test: those in no tier, several at a time, then those that need the machine to themselves; then those
 * that serve, on the other engine. Where uWebSockets.js does not load, all of them run on Node's engine. `only` limits
 * this to the files in no tier that it matches.
 */
function runAll({ only, ...options }) {
  const tiers = only === undefined ? [undefined, 'solo'] : [undefined];
  const runs = enginesOf(options.node).flatMap((engine, pass) =>
    tiers.map((tier) => {
      const files = (pass === 0 ? testFiles : servingTests)(tier).filter((file) => only?.test(file) ?? true);
      const run = runTests({ ...options, files, engine, jobs: tier === 'solo' ? 1 : JOBS });
      const where = engine === 'node' ? "on Node's engine: " : '';
      return { ...run, failures: run.failures.map((failure) => `${where}${failure}`) };
    }),
  );
  const sum = (name) => runs.reduce((total, { counts }) => total + counts[name], 0);
  return {
    counts: { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') },
    failures: runs.flatMap((run) => run.failures),
    text: runs.map((run) => run.text).join('\n'),
  };
}

/**
 * Keeps the counts of src/: of its modules, and of the bundle in the services that tests start. Node records every script
 * of every process, a hundred times as much.
 */
function keepCounts() {
  const wanted = ['dist/', 'build/ts/src/'].map((folder) => pathToFileURL(path.join(root, folder)).href);
  for (const name of readdirSync(coverageFolder)) {
    const file = path.join(coverageFolder, name);
    const counts = JSON.parse(readFileSync(file, 'utf8'));
    counts.result = counts.result.filter(({ url }) => wanted.some((folder) => url.startsWith(folder)));
    writeFileSync(file, JSON.stringify(counts));
  }
}

function checkCoverage() {
  keepCounts();
  const c8 = path.join(path.dirname(require.resolve('c8/package.json')), 'bin/c8.js');
  const limits = ['--functions=0', '--branches=0', '--statements=0', `--lines=${MIN_LINES_COVERED}`];
  // By the source and not by the script: the bundle contains libraries too.
  const selection = ['--include=**/src/**', '--exclude-after-remap', '--reporter=text'];
  const args = [c8, 'report', `--temp-directory=${coverageFolder}`, ...selection, '--check-coverage'];
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] };
  const isCovered = spawnSync(process.execPath, [...args, ...limits], options).status === 0;
  if (!isCovered) console.error(`less than ${MIN_LINES_COVERED} % of the lines of src/ are covered`);
  return isCovered;
}

/** Prints all failures together and the closing line; returns the exit code. */
export function report({ passed, failed, skipped }, texts = []) {
  const inCi = process.env.CI === 'true';
  for (const text of texts) console.log(`FAILED: ${text}`);
  const failures = failed + (inCi ? skipped : 0);
  if (inCi && skipped > 0) console.error(`${skipped} skipped: in CI a skip is a failure`);
  console.log(`${passed} passed, ${failures} failed${skipped > 0 && !inCi ? `, ${skipped} skipped` : ''}`);
  return failures === 0 && passed > 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const coverage = args.includes('--coverage');
  const nodeAt = args.indexOf('--node');
  const node = nodeAt >= 0 ? args[nodeAt + 1] : process.execPath;
  const files = args.filter((arg, index) => !arg.startsWith('--') && (nodeAt < 0 || index !== nodeAt + 1));
  provideNeeds();
  if (coverage) rmSync(coverageFolder, { recursive: true, force: true });
  const options = { node, coverage, ...(args.includes('--contract') ? { only: CONTRACT } : {}) };
  const { counts, failures, text } = files.length > 0 ? runTests({ ...options, files }) : runAll(options);
  const isCovered = !coverage || checkCoverage();
  for (const line of slowestOf(text)) console.log(line);
  process.exitCode = report(counts, failures) || (isCovered ? 0 : 1);
}
