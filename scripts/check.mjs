// All that CI runs: lint, types, both builds, the addon on an empty HOME, tests on both Nodes, sanitized parsers.
//   node scripts/check.mjs [STEP…]   (all steps without a name)
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildWithCmake, buildWithGyp } from './build.mjs';
import { provideNeeds } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const totals = { passed: 0, failed: 0, skipped: 0 };
/** What failed, said once more in front of the last line: the end of a log is what is read first. */
const failures = [];

function note(isGood, name, detail = '') {
  totals[isGood ? 'passed' : 'failed']++;
  if (!isGood) failures.push(`FAILED: ${name}${detail === '' ? '' : `: ${detail}`}`);
  console.log(`${isGood ? 'ok' : 'NOT OK'}: ${name}${detail === '' ? '' : `: ${detail}`}`);
}

function runStep(name, command, args, env = process.env) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env });
  note(result.status === 0, name);
}

// Loads an addon as the service does and reads the machine once.
function loadsAndReads(file, node = process.execPath) {
  const program = `const { Host } = require(process.argv[1]); const c = new Host({}).readCounters(31, true, 0);
    if (!(c.memory.totalBytes > 0 && c.cpu.total.idle >= 0)) process.exit(1);`;
  return spawnSync(node, ['-e', program, file], { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

/** The other supported Node: from PATH-independent npm, so that both are checked wherever this runs. */
function otherNode() {
  const wanted = process.versions.node.startsWith('22.') ? '20' : '22';
  const folder = path.join(root, `build/node${wanted}`);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = path.join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    spawnSync('npm', ['install', '--prefix', folder, '--no-save', '--no-package-lock', `${name}@${wanted}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return existsSync(binary) ? { binary, version: wanted } : undefined;
}

function runTestScript(name, args, script = 'scripts/test.mjs') {
  const result = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 256 << 20,
  });
  process.stdout.write(result.stdout);
  // tap shows the cursor again when it ends, in front of whatever comes next.
  const plain = result.stdout.replaceAll('\u001b[?25h', '');
  const closing = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/m.exec(plain);
  totals.passed += Number(closing?.[1] ?? 0);
  totals.failed += Number(closing?.[2] ?? 1);
  totals.skipped += Number(closing?.[3] ?? 0);
  failures.push(...(plain.match(/^(?:FAILED|UNSTEADY).*(?:\n {2}.*)*/gm) ?? []));
  if (result.status !== 0 && Number(closing?.[2] ?? 1) === 0) note(false, name);
}

const steps = {
  build() {
    runStep('build', process.execPath, ['scripts/build.mjs', 'all']);
    note(loadsAndReads(path.join(root, 'dist/hostwire.node')), 'the addon loads and reads');
  },
  lint: () => runStep('lint', process.execPath, ['scripts/lint.mjs']),
  builds() {
    note(loadsAndReads(buildWithCmake()), 'built by cmake-js, loads and reads');
    const gyp = buildWithGyp();
    note(loadsAndReads(gyp), 'built by node-gyp, loads and reads');
    const other = otherNode();
    note(
      other !== undefined && loadsAndReads(gyp, other.binary),
      `loads on Node ${other?.version ?? '(other)'}`,
    );
  },
  // A machine's own npm configuration can hide that a build needs it.
  home() {
    const home = mkdtempSync(path.join(os.tmpdir(), 'hostwire-home-'));
    const env = { PATH: process.env.PATH, HOME: home, LANG: 'C' };
    rmSync(path.join(root, 'build/cmake'), { recursive: true, force: true });
    runStep('built with an empty HOME', process.execPath, ['scripts/build.mjs', 'addon'], env);
    rmSync(home, { recursive: true, force: true });
  },
  test: () => runTestScript('npm test with coverage', ['--coverage']),
  other() {
    const other = otherNode();
    if (other === undefined) return note(false, 'the other Node could not be installed');
    const listed = spawnSync('find', ['build/ts/test/contract', '-name', '*.test.js'], {
      cwd: root,
      encoding: 'utf8',
    });
    runTestScript(`contract tests on Node ${other.version}`, [
      '--node',
      other.binary,
      ...listed.stdout.trim().split('\n'),
    ]);
  },
  windows: () => runTestScript('the service on Windows, under Wine', [], 'scripts/test-windows.mjs'),
  asan() {
    runStep('parsers under sanitizers', process.execPath, ['scripts/replay.mjs']);
    runStep('readers without memory, under sanitizers', process.execPath, ['scripts/starve.mjs']);
  },
};

provideNeeds();
const wanted = process.argv.slice(2);
for (const [name, step] of Object.entries(steps)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const started = Date.now();
  step();
  console.log(`-- ${name}: ${Math.round((Date.now() - started) / 1000)} s`);
}
if (failures.length > 0) console.log(`\n${failures.join('\n')}\n`);
console.log(
  `${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''}`,
);
process.exitCode = totals.failed === 0 ? 0 : 1;
