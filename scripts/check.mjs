// Everything that CI runs: the build with an empty HOME, lint, the build of single files with node-gyp, sanitizers, the
// build for Windows; then the tests: `npm test`, the system tests, the second engine on the newest Node, a few on the other
// Nodes, under sanitizers and under Wine.
//   node scripts/check.mjs [STEP…]   (all steps without a name)
// Steps that only compile and compute run in the background, at the lowest priority: they use the time in which tests wait.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { provideNeeds } from './needs.mjs';
import { OLDEST_NODE, OTHER_NODES, provideNode } from './nodes.mjs';
import { testFiles } from './test.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const totals = { passed: 0, failed: 0, skipped: 0 };
/** The failures, repeated before the last line: the end of a log is read first. */
const failures = [];

function note(isGood, name, detail = '') {
  const text = `${name}${detail === '' ? '' : `: ${detail}`}`;
  totals[isGood ? 'passed' : 'failed']++;
  if (!isGood) failures.push(`FAILED: ${text}`);
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${text}`);
}

/** Runs a command to its end and prints its output in one piece, because other commands may run at the same time. */
async function run(command, args, { env = process.env, priority = 0 } = {}) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env });
  if (priority !== 0 && child.pid !== undefined) os.setPriority(child.pid, priority);
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part));
  const isGood = await new Promise((resolve) => {
    child.once('error', (error) => {
      parts.push(Buffer.from(`${error.message}\n`));
      resolve(false);
    });
    child.once('close', (status) => resolve(status === 0));
  });
  const output = Buffer.concat(parts).toString();
  process.stdout.write(output);
  return { isGood, output };
}

/** Only uses the time in which tests wait. */
const LOW = os.constants.priority.PRIORITY_LOW;
/** Low, too, but before the others: a step in the foreground waits for the result. */
const LOW_BUT_FIRST = LOW - 5;

/** Runs a script in the background. The end of its output is repeated with the failures. */
async function runScript(name, args, priority = LOW) {
  const { isGood, output } = await run(process.execPath, args, { priority });
  note(isGood, name, isGood ? '' : `\n  ${output.trimEnd().split('\n').slice(-20).join('\n  ')}`);
  return isGood;
}

/** Runs a script that ends with "N passed, N failed[, N skipped]" and adds its counts. */
async function runTests(name, ...args) {
  const { isGood, output } = await run(process.execPath, args);
  // When tap ends it prints the escape sequence that shows the cursor, in front of the next line.
  const plain = output.replaceAll('\u001b[?25h', '');
  const closing = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(plain);
  totals.passed += Number(closing?.[1] ?? 0);
  totals.failed += Number(closing?.[2] ?? 1);
  totals.skipped += Number(closing?.[3] ?? 0);
  for (const [text] of plain.matchAll(/(?<=^FAILED: ).*(?:\n {2}.*)*/gm))
    failures.push(`FAILED: ${name}: ${text}`);
  if (!isGood && Number(closing?.[2] ?? 1) === 0) note(false, name);
}

/** Returns whether an addon loads as in the service and reads the machine once. */
async function loadsAndReads(file, node = process.execPath) {
  const program = `const { Host } = require(process.argv[1]); const c = new Host({}).readCounters(31, true, 0);
    if (!(c.memory.totalBytes > 0 && c.cpu.total.idle >= 0)) process.exit(1);`;
  return (await run(node, ['-e', program, path.join(root, file)])).isGood;
}

/** Calls `use` with the path of each of these Nodes; one that npm cannot install fails in CI and is skipped elsewhere. */
async function onNodes(versions, use) {
  for (const version of versions) {
    const node = await provideNode(version).catch((error) => error);
    if (!(node instanceof Error)) {
      await use(node, version);
    } else if (process.env.CI === 'true') {
      note(false, `Node ${version} could not be installed`, node.message);
    } else {
      totals.skipped++;
      console.log(`skipped: Node ${version} could not be installed: ${node.message}`);
    }
  }
}

/** Builds with an empty HOME: a user's own npm configuration can hide that a build needs it. */
async function build() {
  const home = mkdtempSync(path.join(os.tmpdir(), 'hostwire-home-'));
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C' };
  const { CMAKE_CXX_COMPILER_LAUNCHER: launcher, CCACHE_DIR: cache } = process.env;
  if (launcher !== undefined) env.CMAKE_CXX_COMPILER_LAUNCHER = launcher;
  if (cache !== undefined) env.CCACHE_DIR = cache;
  rmSync(path.join(root, 'build/cmake'), { recursive: true, force: true });
  const halves = [
    ['addon', 'programs'],
    ['program', 'tests'],
  ].map((steps) => run(process.execPath, ['scripts/build.mjs', ...steps], { env }));
  for (const { isGood } of await Promise.all(halves)) note(isGood, 'built with an empty HOME');
  rmSync(home, { recursive: true, force: true });
  note(await loadsAndReads('dist/hostwire.node'), 'the addon loads and reads');
}

/**
 * Without optimization: this only shows that binding.gyp lists all sources and settings, and that each source also
 * compiles alone. The build with CMake compiles those of a folder as one file.
 */
async function gyp() {
  if (!(await runScript('built by node-gyp', ['scripts/build.mjs', 'gyp-single']))) return;
  const built = 'build/gyp/hostwire.node';
  note(await loadsAndReads(built), 'built by node-gyp, loads and reads');
  await onNodes(OTHER_NODES, async (node, version) =>
    note(await loadsAndReads(built, node), `loads on Node ${version}`),
  );
}

/** Runs beside the races: replaying takes one core for a minute. */
async function parsers() {
  await Promise.all([
    runScript('parsers under sanitizers', ['scripts/replay.mjs']),
    runScript('readers without memory, under sanitizers', ['scripts/starve.mjs']),
  ]);
}

/** Runs on the first engine that each of them loads; the newest runs all of `engines`. The oldest only has to serve. */
async function nodes() {
  const test = (name, node, ...args) => runTests(name, 'scripts/test.mjs', '--node', node, ...args);
  await onNodes(OTHER_NODES.slice(0, -1), (node, version) =>
    test(`contract tests on Node ${version}`, node, '--smoke'),
  );
  const stream = 'test/contract/stream.test.ts';
  await onNodes([OLDEST_NODE], (node, version) => test(`streams on Node ${version}`, node, stream));
}

const engines = () =>
  onNodes(OTHER_NODES.slice(-1), (node, version) =>
    runTests(`Node's engine on Node ${version}`, 'scripts/test.mjs', '--node', node, '--engines'),
  );

const steps = {
  build,
  lint: () => runScript('lint', ['scripts/lint.mjs']),
  gyp,
  sanitized: () => runScript('built under sanitizers', ['scripts/build.mjs', 'sanitized'], LOW_BUT_FIRST),
  parsers,
  'windows-build': () => runScript('built for Windows', ['scripts/test-windows.mjs', '--prepare']),
  test: () => runTests('npm test with coverage', 'scripts/test.mjs', '--coverage'),
  system: () => runTests('system tests with coverage', 'scripts/test.mjs', '--system', '--coverage'),
  engines,
  nodes,
  races: () => runTests('programs under sanitizers', 'scripts/test.mjs', ...testFiles('sanitized')),
  windows: () => runTests('the service on Windows, under Wine', 'scripts/test-windows.mjs'),
};

/** Steps in the background, which start after the build, and the one that a step waits for. */
const BACKGROUND = ['lint', 'sanitized', 'parsers', 'windows-build', 'gyp'];
const NEEDS = { engines: 'gyp', parsers: 'sanitized', races: 'sanitized', windows: 'windows-build' };
/** Steps in the foreground, after the build: one after the other, and at last two lists side by side, for Wine waits much. */
const FOREGROUND = ['test', 'system'];
const SIDE_BY_SIDE = [['windows'], ['races', 'engines', 'nodes']];

const wanted = process.argv.slice(2);
for (const name of wanted)
  if (!(name in steps)) {
    console.error(`unknown step "${name}"; known: ${Object.keys(steps).join(', ')}`);
    process.exit(1);
  }
provideNeeds({ windows: true });

async function runStep(name) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const started = Date.now();
  await steps[name]();
  console.log(`-- ${name}: ${Math.round((Date.now() - started) / 1000)} s`);
}

const running = new Map();

async function runSteps(names) {
  for (const name of names) {
    await running.get(NEEDS[name]);
    await runStep(name);
  }
}

await runStep('build');
for (const name of BACKGROUND) running.set(name, runSteps([name]));
await runSteps(FOREGROUND);
await Promise.all(SIDE_BY_SIDE.map(runSteps));
await Promise.all(running.values());
// With their diagnoses, and then a line for each: the end of the log alone names all of them.
if (failures.length > 0) console.log(`\n${failures.join('\n')}\n`);
for (const [first = ''] of failures.map((text) => text.split('\n'))) console.log(first.slice(0, 300));
console.log(
  `${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`,
);
process.exitCode = totals.failed === 0 ? 0 : 1;
