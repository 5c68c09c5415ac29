// Tests the service on Windows, or on Wine in its place: builds the addon with mingw-w64 and drives node.exe from here.
//   node scripts/test-windows.mjs [--prepare | FILE.test.js…]   ends with "N passed, N failed[, N skipped]"
// `--prepare` only builds the addon and sets up the Wine prefix.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildForWindows, missingForWindowsBuild } from './build-windows.mjs';
import { provideNeeds } from './needs.mjs';
import { report, runTests, testFiles } from './test.mjs';
import { endWine, hasWine, provideWindows, wineEnvironment } from './wine.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

function prepare() {
  const began = Date.now();
  buildForWindows();
  const windows = provideWindows();
  console.error(`built and set up in ${Math.round((Date.now() - began) / 1000)} s`);
  return windows;
}

function runAll(named) {
  const build = spawnSync(process.execPath, ['scripts/build.mjs', 'missing', 'tests'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (build.status !== 0) throw new Error('failed: scripts/build.mjs missing tests');
  const windows = prepare();
  try {
    // Keeps the server of the prefix running between two tests.
    spawnSync('wineserver', ['-p60'], { env: wineEnvironment(), stdio: 'ignore' });
    // One test at a time: they share the prefix, and Wine is so slow that two in parallel would miss their
    // deadlines.
    return runTests({ files: named.length > 0 ? named : testFiles('windows'), env: windows, jobs: 1 });
  } finally {
    endWine();
  }
}

const args = process.argv.slice(2);
provideNeeds({ windows: true });
const missing = [...missingForWindowsBuild(), ...(hasWine() ? [] : ['wine'])];
if (missing.length > 0) {
  console.error(`skipped: the service on Windows (missing: ${missing.join(', ')})`);
  console.log('0 passed, 0 failed, 1 skipped');
  process.exitCode = process.env.CI === 'true' ? 1 : 0;
} else {
  try {
    if (args[0] === '--prepare') prepare();
    else {
      const { counts, failures } = runAll(args);
      process.exitCode = report(counts, failures);
    }
  } catch (error) {
    console.error(error.message);
    process.exitCode = report({ passed: 0, failed: 1, skipped: 0 });
  }
}
