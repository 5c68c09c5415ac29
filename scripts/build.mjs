// Builds the named parts: the addon (with cmake-js, or with node-gyp where CMake is missing), the TypeScript and others.
//   node scripts/build.mjs [addon | missing | tests | programs | sanitized | sanitized-addon | web | all | cmake | gyp | clean]…
// `missing` builds only parts that do not exist or are older than their sources; `programs` are the C++ programs of the
// tests, `sanitized` the same under sanitizers, and `sanitized-addon` the addon under AddressSanitizer. Plain .mjs because
// it runs before any build.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBundle } from './bundle.mjs';
import { writeCommit } from './commit.mjs';
import { unpackAll } from './fixtures.mjs';
import { hasCmake, missingTools } from './tools.mjs';
import { buildWeb, isWebMissing } from './web.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const JOBS = String(os.availableParallelism());
const addonPath = path.join(root, 'dist/hostwire.node');

function run(command, args, quiet = false, env = process.env) {
  const stdio = quiet ? 'pipe' : 'inherit';
  const result = spawnSync(command, args, { cwd: root, stdio, encoding: 'utf8', env });
  if (result.status === 0) return;
  if (quiet) process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  console.error(`failed: ${[command, ...args].join(' ')}${result.error ? ` (${result.error.message})` : ''}`);
  process.exit(1);
}

function newestIn(folder, skip = () => false) {
  let newest = 0;
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !skip(file)) newest = Math.max(newest, statSync(file).mtimeMs);
  }
  return newest;
}

function isOlder(file, newest) {
  return !existsSync(file) || statSync(file).mtimeMs < newest;
}

// Replaced, never overwritten: a running service may have the old file mapped.
function install(built) {
  mkdirSync(path.dirname(addonPath), { recursive: true });
  copyFileSync(built, `${addonPath}.new`);
  renameSync(`${addonPath}.new`, addonPath);
}

function requireTools(useCmake) {
  const problem = missingTools(useCmake);
  if (problem === undefined) return;
  console.error(problem);
  process.exit(1);
}

/** Runs cmake-js in build/cmake, which the test programs and clang-tidy use too. */
function runCmakeJs(command) {
  requireTools(true);
  const cmakeJs = require.resolve('cmake-js/bin/cmake-js');
  run(process.execPath, [cmakeJs, command, '-O', 'build/cmake', '--parallel', JOBS], true);
}

export function configureCmake() {
  if (!existsSync(path.join(root, 'build/cmake/compile_commands.json'))) runCmakeJs('configure');
}

function buildWithCmake() {
  runCmakeJs('build');
  return path.join(root, 'build/cmake/Release/hostwire.node');
}

function buildTarget(folder, target) {
  run('cmake', ['--build', folder, '--target', target, '--parallel', JOBS], true);
}

/** The C++ programs of the tests (test/native/CMakeLists.txt); without CMake their tests are skipped. */
function buildPrograms() {
  if (process.platform !== 'linux') return;
  if (!hasCmake()) return console.error('missing: cmake; tests of native programs are skipped');
  configureCmake();
  buildTarget('build/cmake', 'programs');
}

/** The same programs under sanitizers, in separate build folders. Not optimized: compiling takes longer than running. */
function buildSanitized() {
  for (const sanitizer of ['address', 'thread']) {
    const folder = `build/sanitized/${sanitizer}`;
    const options = ['-DCMAKE_BUILD_TYPE=None', `-DHOSTWIRE_SANITIZE=${sanitizer}`];
    run('cmake', ['-S', '.', '-B', folder, ...options], true);
    buildTarget(folder, 'programs');
  }
}

/**
 * The addon under AddressSanitizer and UBSan, in the build folder of `sanitized`: build/sanitized/address/hostwire.node.
 * Node-API's headers are those of cmake-js, so that nothing is downloaded.
 */
function buildSanitizedAddon() {
  if (process.platform !== 'linux') return;
  const folder = 'build/sanitized/address';
  const headers = createRequire(require.resolve('cmake-js/package.json')).resolve('node-api-headers');
  const options = ['-DCMAKE_BUILD_TYPE=None', '-DHOSTWIRE_SANITIZE=address'];
  const include = path.join(path.dirname(headers), 'include');
  run('cmake', ['-S', '.', '-B', folder, ...options, `-DCMAKE_JS_INC=${include}`], true);
  buildTarget(folder, 'hostwire');
}

/** With node-gyp, into build/Release or, without optimization, build/Debug. */
function buildWithGyp({ isQuick = false } = {}) {
  requireTools(false);
  const nodeGyp = require.resolve('node-gyp/bin/node-gyp.js');
  // Without --nodedir node-gyp downloads Node's headers; most installations include them.
  const prefix = path.dirname(path.dirname(process.execPath));
  const options = existsSync(path.join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : [];
  if (isQuick) options.push('--debug');
  const env = { ...process.env, ...(isQuick ? { CXXFLAGS: '-g0' } : {}) };
  // CMake reads this variable itself; node-gyp does not.
  const launcher = env.CMAKE_CXX_COMPILER_LAUNCHER;
  if (launcher) env.CXX = `${launcher} ${env.CXX ?? 'g++'}`;
  // Not `rebuild`: it first deletes build/, which holds all other builds too.
  run(process.execPath, [nodeGyp, 'configure', ...options], true);
  run(process.execPath, [nodeGyp, 'build', '-j', JOBS, ...options], true, env);
  return path.join(root, 'build', isQuick ? 'Debug' : 'Release', 'hostwire.node');
}

/** Shows that node-gyp can build the addon; the result goes to build/gyp and is not used. */
function tryGyp() {
  const built = path.join(root, 'build/gyp/hostwire.node');
  mkdirSync(path.dirname(built), { recursive: true });
  copyFileSync(buildWithGyp({ isQuick: true }), built);
}

function buildAddon() {
  const started = Date.now();
  const useCmake = hasCmake();
  install(useCmake ? buildWithCmake() : buildWithGyp());
  console.error(`built the addon with ${useCmake ? 'cmake-js' : 'node-gyp'} in ${Date.now() - started} ms`);
}

/** The modules in build/ts, which tests import, and from the same sources the program in dist/, which users run. */
async function buildTypescript(project) {
  run(process.execPath, [require.resolve('typescript/bin/tsc'), '-b', project]);
  // The API documents, from the schemas that were just compiled.
  run(process.execPath, [path.join(root, 'build/ts/src/api/generate.js')]);
  writeCommit();
  // The completions and the manual page, whose date is that of the commit.
  run(process.execPath, [path.join(root, 'build/ts/src/cli/share/generate.js')]);
  await buildBundle();
}

/** Whether a part of the program does not exist or is older than what it is made of. */
function isProgramMissing() {
  const used = ['package-lock.json', 'tsconfig.json', 'scripts/bundle.mjs'];
  const newest = Math.max(newestIn('src'), ...used.map((file) => statSync(path.join(root, file)).mtimeMs));
  const built = [
    'build/ts/src.tsbuildinfo',
    'dist/main.js',
    'dist/client/client.js',
    'dist/api/openapi.json',
    'dist/share/man/man1/hostwire.1',
  ];
  return built.some((file) => isOlder(path.join(root, file), newest));
}

function isAddonMissing() {
  const sources = Math.max(
    newestIn('native', (file) => file.includes('/fuzz/')),
    statSync(path.join(root, 'CMakeLists.txt')).mtimeMs,
  );
  return isOlder(addonPath, sources);
}

const steps = {
  addon: buildAddon,
  async missing() {
    if (isAddonMissing()) buildAddon();
    if (isProgramMissing()) await buildTypescript('.');
    if (isWebMissing()) await buildWeb();
    writeCommit();
  },
  web: buildWeb,
  async tests() {
    await buildTypescript('test');
    unpackAll();
  },
  async all() {
    buildAddon();
    await buildTypescript('test');
    await buildWeb();
  },
  clean() {
    rmSync(path.join(root, 'dist'), { recursive: true, force: true });
    rmSync(path.join(root, 'build'), { recursive: true, force: true });
  },
  cmake: buildWithCmake,
  gyp: tryGyp,
  programs: buildPrograms,
  sanitized: buildSanitized,
  'sanitized-addon': buildSanitizedAddon,
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of process.argv.slice(2)) {
    const step = steps[name];
    if (step === undefined) {
      console.error(`unknown step "${name}"; known: ${Object.keys(steps).join(', ')}`);
      process.exit(1);
    }
    await step();
  }
}
