// Runs the tests with tap and ends with the line "N passed, N failed[, N skipped]". In CI a skip is a failure.
//   node scripts/test.mjs [--coverage] [--node PATH] [--prove] [FILE.test.js…]
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { failuresOf } from './failures.mjs';
import { provideNeeds } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
/** Nothing that a test starts reaches a bus of this machine: it must stay on. */
const DEAD_BUSES = {
  DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/dev/null/no-bus',
};
const LEAST_LINES_COVERED = 90;
/** When more files fail than this, it is not for what ran beside them. */
const MOST_RUN_AGAIN = 3;

function testFiles(prove) {
  const found = readdirSync(path.join(root, 'build/ts/test'), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.js') && file.startsWith('prove') === prove)
    // Those need what scripts/test-windows.mjs sets up.
    .filter((file) => !file.startsWith('windows'));
  // What was compiled from a test that has since been removed is not a test.
  const sources = new Set(readdirSync(path.join(root, 'test'), { recursive: true }).map(String));
  return found
    .filter((file) => sources.has(file.replace(/\.js$/, '.ts')))
    .map((file) => path.join('build/ts/test', file));
}

/**
 * Runs `files` under `node`; the counts that tap's last line gives. A file that failed is run once more, alone: beside
 * browsers and players on two cores a deadline may pass that nothing is wrong with. What failed at first is printed as
 * UNSTEADY, never hidden; what fails again has failed.
 */
export function runTests(options) {
  const { counts, text, isCovered } = runOnce(options);
  const failures = failuresOf(text);
  const failed = [...text.matchAll(/^not ok \d+ - (\S+\.test\.js)/gm)].map((match) => match[1]);
  const isAgain = options.prove !== true && failed.length > 0 && failed.length <= MOST_RUN_AGAIN;
  if (!isAgain) return { counts, text, failures, isCovered: isCovered() };
  for (const failure of failures) console.log(`UNSTEADY (run again, alone): ${failure}`);
  const again = runOnce({ ...options, files: failed, jobs: 1, isAgain: true });
  const passed = counts.passed + Math.max(0, counts.failed - again.counts.failed);
  return {
    counts: { ...again.counts, passed, skipped: counts.skipped },
    text,
    failures: failuresOf(again.text),
    isCovered: isCovered(),
  };
}

function runOnce({
  files,
  node = process.execPath,
  coverage = false,
  prove = false,
  env = {},
  jobs = 2,
  isAgain = false,
}) {
  const output = path.join(root, 'build/test.tap');
  const coverageFolder = path.join(root, 'build/coverage');
  mkdirSync(path.dirname(output), { recursive: true });
  rmSync(output, { force: true });
  if (coverage && !isAgain) rmSync(coverageFolder, { recursive: true, force: true });
  const tap = path.join(path.dirname(require.resolve('tap/package.json')), 'dist/esm/run.mjs');
  const result = spawnSync(
    node,
    [
      tap,
      'run',
      '--disable-coverage',
      '--plugin=!@tapjs/typescript',
      '--reporter=terse',
      `--jobs=${jobs}`,
      `--timeout=${prove ? 3600 : 300}`,
      `--output-file=${output}`,
      ...files,
    ],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...process.env,
        ...DEAD_BUSES,
        ...env,
        ...(coverage ? { NODE_V8_COVERAGE: coverageFolder } : {}),
      },
    },
  );
  const text = readFileSync(output, 'utf8');
  const summary =
    /^# \{ total: (\d+)(?:, pass: (\d+))?(?:, fail: (\d+))?(?:, skip: (\d+))?(?:, todo: (\d+))? \}$/m.exec(
      text,
    );
  const count = (index) => Number(summary?.[index] ?? 0);
  const counts = { passed: count(2), failed: count(3), skipped: count(4) + count(5) };
  if (counts.skipped > 0)
    for (const line of text.match(/^ *(?:not )?ok .*# (?:SKIP|TODO).*$/gm) ?? []) console.error(line.trim());
  if (result.status !== 0 && counts.failed === 0) counts.failed = 1;
  return { counts, text, isCovered: () => !coverage || checkCoverage(coverageFolder) };
}

function checkCoverage(folder) {
  const c8 = path.join(path.dirname(require.resolve('c8/package.json')), 'bin/c8.js');
  const result = spawnSync(
    process.execPath,
    [
      c8,
      'report',
      `--temp-directory=${folder}`,
      '--include=dist/**',
      '--exclude-after-remap=false',
      '--reporter=text',
      '--check-coverage',
      `--lines=${LEAST_LINES_COVERED}`,
      '--functions=0',
      '--branches=0',
      '--statements=0',
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return result.status === 0;
}

/** Prints what failed, once more and together, and the closing line; the exit code. */
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
  const prove = args.includes('--prove');
  const nodeAt = args.indexOf('--node');
  const node = nodeAt >= 0 ? args[nodeAt + 1] : process.execPath;
  const named = args.filter((arg, index) => !arg.startsWith('--') && (nodeAt < 0 || index !== nodeAt + 1));
  provideNeeds();
  const files = named.length > 0 ? named : testFiles(prove);
  const { counts, failures, isCovered } = runTests({ files, node, coverage, prove });
  if (!isCovered) console.error(`less than ${LEAST_LINES_COVERED} % of the lines of src/ are covered`);
  process.exitCode = report(counts, failures) || (isCovered ? 0 : 1);
}
