// Runs the tests with tap and ends with the line "N passed, N failed[, N skipped]". In CI a skip is a failure.
//   node scripts/test.mjs               `npm test`: what needs nothing but Node, git, python3, make and g++
//   node scripts/test.mjs --system      `npm run test:system`: what needs Debian packages, root or the machine to itself
//   node scripts/test.mjs --changed     what imports a file that differs from main; lists the system tests of these
//   node scripts/test.mjs --engines     the contract, HTTP and keys on Node's own engine, for `npm run check`
//   node scripts/test.mjs --smoke       a few files of the contract, for the other versions of Node
//   node scripts/test.mjs FILE…         these, test/**/*.test.ts
// With --node PATH under another Node, with --coverage counting lines, with --record noting the seconds of each file.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { failuresOf, secondsOf, slowestOf } from './failures.mjs';
import { graphOf, isPure, testsOf } from './imports.mjs';
import { provideNeeds } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
/** Keeps every process of a test off this machine's buses: no test may be able to power it off. */
const DEAD_BUSES = {
  DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
};
/** Tests wait most of their time: one per core would leave the cores idle. */
const CORES = os.availableParallelism();
const JOBS = 4 * CORES;
/** Browsers and brokers are busier. */
const SYSTEM_JOBS = 2 * CORES;
/** Percent of the lines of src/ that `npm test` reaches, and together with the system tests. */
const MIN_COVERED = { fast: 94, all: 98 };
const coverageFolder = path.join(root, 'build/coverage');
const SECONDS = path.join(root, 'test/seconds.json');

/** Folders whose tests are not in `npm test`. `solo` runs after the system tests, one file at a time. */
const TIERS = ['prove', 'sanitized', 'slow', 'solo', 'system', 'windows'];

const tierOf = (file) => TIERS.find((name) => file.split('/').includes(name));

/** Returns all test files, `test/…/x.test.ts`. Listed from the sources: build/ may still hold removed tests. */
const allTests = () =>
  readdirSync(path.join(root, 'test'), { recursive: true })
    .map((file) => path.posix.join('test', String(file).replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.test.ts'))
    .sort();

export const sourceOf = (file) => file.replace(/^build\/ts\//, '').replace(/\.js$/, '.ts');
const compiledOf = (file) => path.join('build/ts', sourceOf(file).replace(/\.ts$/, '.js'));

/** Returns the compiled test files of `tier` (one of TIERS), or of no tier if it is undefined. */
export const testFiles = (tier) =>
  allTests()
    .filter((file) => tierOf(file) === tier)
    .map(compiledOf);

const textOf = (file) => readFileSync(path.join(root, sourceOf(file)), 'utf8');

/** The modules and proofs that run on both engines. */
const ON_BOTH_ENGINES =
  /\/test\/(?:(?:access|agent|client|contract|http|hub|streams|tls|viewers)\/|config\/slow\/reload-streams|prove\/(?:hub-siege|key-oracle|proxies|siege|socket-idle)\.)/;
/** What loads an engine for a test, and what starts the program, which loads one. */
const SERVERS = new Set(['test/helpers/service/engine.ts', 'test/helpers/service/service.ts']);

/** Returns whether a test starts the service or an engine, as its imports show. */
const serves = (file) => [...graphOf(sourceOf(file))].some((each) => SERVERS.has(each));

/** Returns whether a test must run on both engines. */
export const runsOnBothEngines = (file) => ON_BOTH_ENGINES.test(`/${sourceOf(file)}`) && serves(file);

/** Tests of `--engines`: keys, and all but the two slowest files of HTTP, which take a quarter of the time. */
const CONTRACT =
  /^test\/(?:(?:contract|http|streams|tls|viewers)\/(?!.*\b(?:unread-answers|tls-readers)\.)|hub\/keys|agent\/scopes\.)/;
/** Tests of `--smoke`: streams, access, sockets, commands. */
const SMOKE = /^test\/contract\/(?:stream|access|socket-order|socket-commands)\.test\.ts$/;
/** Tests the output of `node scripts/build.mjs types`, which is test/types.test.ts here. */
const TYPES = 'test/types.test.ts';
const NEEDS_TYPES = /\.d\.ts|helpers\/packages|'typescript'|dist\/client/;

const readSeconds = () => (existsSync(SECONDS) ? JSON.parse(readFileSync(SECONDS, 'utf8')) : {});

/**
 * Returns the runs of `files`, the longest first by the recorded seconds: one per file, and one for all files of a
 * module that only compute. Those that need the types begin when these have been checked.
 */
function runsOf(files) {
  const groups = new Map();
  const runs = [];
  for (const file of files.map(sourceOf)) {
    const module = file.split('/')[1].replace('.test.ts', '');
    if (!isPure(file)) runs.push({ name: file, files: [compiledOf(file)] });
    else groups.set(module, [...(groups.get(module) ?? []), compiledOf(file)]);
  }
  for (const [module, members] of groups) {
    const isOne = members.length === 1;
    runs.push({ name: isOne ? sourceOf(members[0]) : `test/${module} (pure)`, files: members });
  }
  const seconds = readSeconds();
  // A run that was never measured may be long.
  const length = ({ name }) => (name === TYPES ? Infinity : (seconds[name] ?? 60));
  runs.sort((a, b) => length(b) - length(a));
  const isLate = ({ files: [file] }) => NEEDS_TYPES.test(textOf(file));
  if (runs.some(({ name }) => name === TYPES))
    for (const run of runs) if (run.name !== TYPES && isLate(run)) run.after = TYPES;
  return runs;
}

function countsOf(text) {
  const summary =
    /^# \{ total: (\d+)(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?(?:, todo: (\d+))? \}$/m.exec(
      text,
    );
  const count = (index) => Number(summary?.[index] ?? 0);
  return { passed: count(2), failed: count(3), skipped: count(4) + count(5) };
}

/** Returns the HTTP engines that `node` can load, determined as in the service; tests run on the first one. */
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
  // Its own file while it runs: two simultaneous runs in one checkout do not mix their results.
  const output = path.join(root, `build/test-${process.pid}.tap`);
  const plan = path.join(root, `build/test-${process.pid}.json`);
  mkdirSync(path.dirname(output), { recursive: true });
  writeFileSync(plan, JSON.stringify({ jobs, seconds: limitSeconds, runs: runsOf(files) }));
  const tap = openSync(output, 'w');
  const result = spawnSync(node, [path.join(root, 'scripts/tap.mjs'), plan], {
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
  rmSync(plan);
  const text = readFileSync(output, 'utf8');
  renameSync(output, path.join(root, 'build/test.tap'));
  const counts = countsOf(text);
  if (counts.skipped > 0)
    for (const line of text.match(/^ *(?:not )?ok .*# (?:SKIP|TODO).*$/gm) ?? []) console.error(line.trim());
  if (result.status !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, text, failures: failuresOf(text) };
}

/** Joins the results of several runs. */
function joined(runs) {
  const sum = (name) => runs.reduce((total, { counts }) => total + counts[name], 0);
  return {
    counts: { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') },
    failures: runs.flatMap((run) => run.failures),
    text: runs.map((run) => run.text).join('\n'),
  };
}

/** Runs the system tests, then those that need the machine to themselves. */
const runSystem = (options) =>
  joined([
    runTests({ ...options, files: testFiles('system'), jobs: SYSTEM_JOBS }),
    runTests({ ...options, files: testFiles('solo'), jobs: 1 }),
  ]);

/** Runs files of the contract, of HTTP and of keys that serve, on Node's engine. */
function runEngines(options) {
  const files = [...testFiles(undefined), ...testFiles('system')];
  const serving = files.filter((file) => CONTRACT.test(sourceOf(file)) && serves(file));
  return runTests({ ...options, files: serving, engine: 'node' });
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Returns paths that differ from the last commit on main, in commits or not, and new ones. */
function changedFiles() {
  const base = git('merge-base', 'HEAD', 'main') ?? git('merge-base', 'HEAD', 'origin/main');
  if (base === undefined) throw new Error('there is no branch "main" to compare with');
  const changed = git('diff', '--name-only', base) ?? '';
  const added = git('ls-files', '--others', '--exclude-standard') ?? '';
  return [...changed.split('\n'), ...added.split('\n')].filter((file) => file !== '');
}

function runChanged(options) {
  const changed = changedFiles();
  const tests = testsOf(changed, allTests());
  const fast = tests.filter((file) => tierOf(file) === undefined);
  const slow = tests.filter((file) => ['system', 'solo'].includes(tierOf(file) ?? ''));
  console.log(`${changed.length} files differ from main; tests of these: ${fast.length} of npm test`);
  const result = fast.length > 0 ? runTests({ ...options, files: fast }) : joined([]);
  if (slow.length > 0) console.log(`not run, system tests of these:\n  ${slow.join('\n  ')}`);
  return { ...result, isEmpty: fast.length === 0 };
}

/**
 * Keeps the counts of src/: of its modules, and of the bundle in the services that tests start. Node records
 * every script of every process, a hundred times as much.
 */
function keepCounts() {
  const wanted = ['dist/', 'build/ts/src/'].map((folder) => pathToFileURL(path.join(root, folder)).href);
  for (const name of readdirSync(coverageFolder)) {
    const file = path.join(coverageFolder, name);
    const counts = countsIn(readFileSync(file, 'utf8'));
    if (counts === undefined) {
      rmSync(file);
      continue;
    }
    counts.result = counts.result.filter(({ url }) => wanted.some((folder) => url.startsWith(folder)));
    writeFileSync(file, JSON.stringify(counts));
  }
}

/** Returns the counts of a process; undefined: it was killed while it wrote them, and they count for nothing. */
function countsIn(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Prints the coverage; returns whether it is at least `least` percent of the lines. */
function checkCoverage(least) {
  keepCounts();
  const c8 = path.join(path.dirname(require.resolve('c8/package.json')), 'bin/c8.js');
  const limits = ['--functions=0', '--branches=0', '--statements=0', `--lines=${least}`];
  // By the source and not by the script, because the bundle contains libraries too.
  const selection = ['--include=**/src/**', '--exclude-after-remap', '--reporter=text'];
  const args = [c8, 'report', `--temp-directory=${coverageFolder}`, ...selection, '--check-coverage'];
  /** @type {import('node:child_process').SpawnSyncOptions} */
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] };
  const isCovered = spawnSync(process.execPath, [...args, ...limits], options).status === 0;
  if (!isCovered) console.error(`less than ${least} % of the lines of src/ are covered`);
  return isCovered;
}

/** Notes the seconds of each run of `text`, which order the next runs. */
function recordSeconds(text) {
  const known = new Set(allTests());
  const kept = Object.entries(readSeconds()).filter(([name]) => known.has(name) || name.endsWith('(pure)'));
  const seconds = { ...Object.fromEntries(kept), ...secondsOf(text) };
  const sorted = Object.entries(seconds).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(SECONDS, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
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

const MODES = {
  '--system': runSystem,
  '--changed': runChanged,
  '--engines': runEngines,
  '--smoke': (options) => runTests({ ...options, files: allTests().filter((file) => SMOKE.test(file)) }),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const nodeAt = args.indexOf('--node');
  const node = nodeAt >= 0 ? args[nodeAt + 1] : process.execPath;
  const files = args.filter((arg, index) => !arg.startsWith('--') && (nodeAt < 0 || index !== nodeAt + 1));
  const missing = files.filter((file) => !allTests().includes(sourceOf(file)));
  if (missing.length > 0) {
    console.error(`no such test: ${missing.join(', ')} (expected: test/MODULE/NAME.test.ts)`);
    process.exit(1);
  }
  const mode = Object.keys(MODES).find((name) => args.includes(name));
  if (mode !== undefined && files.length > 0) {
    console.error(`${mode} takes no files; run them, of whatever tier, with "npm test -- FILE"`);
    process.exit(1);
  }
  const options = { node, coverage: args.includes('--coverage') };
  const isSystem = mode === '--system';
  if (isSystem) provideNeeds();
  // The system tests add to the counts of `npm test`.
  if (options.coverage && !isSystem) rmSync(coverageFolder, { recursive: true, force: true });
  const chosen = files.length > 0 ? files : testFiles(undefined);
  const run = mode === undefined ? (each) => runTests({ ...each, files: chosen }) : MODES[mode];
  const { counts, failures, text, isEmpty = false } = run(options);
  const isCovered = !options.coverage || checkCoverage(isSystem ? MIN_COVERED.all : MIN_COVERED.fast);
  if (args.includes('--record')) recordSeconds(text);
  for (const line of slowestOf(text)) console.log(line);
  process.exitCode = isEmpty ? 0 : report(counts, failures) || (isCovered ? 0 : 1);
}
