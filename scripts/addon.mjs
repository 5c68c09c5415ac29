// Builds the addon, dist/hostwire.node, with cmake-js, CMake alone or node-gyp, whichever is there.
//   node scripts/addon.mjs   what npm runs when it installs: in a checkout it builds the addon and the program; in the
// published package it takes the prebuilt addon if that loads here, builds it otherwise, and removes what cannot load
// here (prebuilt.mjs).
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { prunePackage, whyNotPrebuilt } from './prebuilt.mjs';
import { hasCmake, missingTools } from './tools.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
export const JOBS = String(os.availableParallelism());
export const addonPath = path.join(root, 'dist/hostwire.node');
/** Only a checkout has the sources of the program. */
const isCheckout = existsSync(path.join(root, 'src'));

/** Ends this program where the command fails. */
export function run(command, args, quiet = false, env = process.env) {
  const stdio = quiet ? 'pipe' : 'inherit';
  const result = spawnSync(command, args, { cwd: root, stdio, encoding: 'utf8', env });
  if (result.status === 0) return;
  if (quiet) process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  console.error(`failed: ${[command, ...args].join(' ')}${result.error ? ` (${result.error.message})` : ''}`);
  process.exit(1);
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

/** Runs cmake-js in build/cmake, which the test programs use too. */
function runCmakeJs(command) {
  requireTools(true);
  const cmakeJs = require.resolve('cmake-js/bin/cmake-js');
  run(process.execPath, [cmakeJs, command, '-O', 'build/cmake', '--parallel', JOBS], true);
}

export function configureCmake() {
  if (!existsSync(path.join(root, 'build/cmake/compile_commands.json'))) runCmakeJs('configure');
}

export function buildWithCmake() {
  runCmakeJs('build');
  return path.join(root, 'build/cmake/Release/hostwire.node');
}

/** Returns Node-API's headers, which this package includes, so that nothing is downloaded. */
export function apiHeaders() {
  return path.join(path.dirname(require.resolve('node-api-headers')), 'include');
}

/** Writes build/single/compile_commands.json, the command of each single source, for clang-tidy. Builds nothing. */
export function listCommands() {
  requireTools(true);
  const options = ['-DHOSTWIRE_UNITY=OFF', `-DCMAKE_JS_INC=${apiHeaders()}`];
  run('cmake', ['-S', '.', '-B', 'build/single', ...options], true);
}

/** Builds in the published package, which does not include cmake-js. */
function buildWithCmakeAlone() {
  requireTools(true);
  run('cmake', ['-S', '.', '-B', 'build/cmake', `-DCMAKE_JS_INC=${apiHeaders()}`], true);
  run('cmake', ['--build', 'build/cmake', '--target', 'hostwire', '--parallel', JOBS], true);
  return path.join(root, 'build/cmake/hostwire.node');
}

/** Returns node-gyp: npm names its own to the scripts that it runs. */
function findNodeGyp() {
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch (error) {
    if (process.env.npm_config_node_gyp !== undefined) return process.env.npm_config_node_gyp;
    throw error;
  }
}

/** Builds with node-gyp, into build/Release or, not optimized, build/Debug. `isSingle`: each source is one object. */
export function buildWithGyp({ isQuick = false, isSingle = false } = {}) {
  requireTools(false);
  const nodeGyp = findNodeGyp();
  // Without --nodedir node-gyp downloads Node's headers; most installations include them.
  const prefix = path.dirname(path.dirname(process.execPath));
  const options = existsSync(path.join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : [];
  if (isQuick) options.push('--debug');
  const env = { ...process.env };
  if (isQuick) env.CXXFLAGS = '-g0';
  if (isSingle) env.HOSTWIRE_UNITY = 'OFF';
  // CMake reads this variable itself; node-gyp does not.
  const launcher = env.CMAKE_CXX_COMPILER_LAUNCHER;
  if (launcher) env.CXX = `${launcher} ${env.CXX ?? 'g++'}`;
  // Not `rebuild`: it first deletes build/, which holds all other builds too.
  run(process.execPath, [nodeGyp, 'configure', ...options], true, env);
  run(process.execPath, [nodeGyp, 'build', '-j', JOBS, ...options], true, env);
  return path.join(root, 'build', isQuick ? 'Debug' : 'Release', 'hostwire.node');
}

/** Verifies that node-gyp can build the addon; the result goes to build/gyp and is not used. */
export function tryGyp(isSingle = false) {
  const built = path.join(root, 'build/gyp/hostwire.node');
  mkdirSync(path.dirname(built), { recursive: true });
  copyFileSync(buildWithGyp({ isQuick: true, isSingle }), built);
}

export function buildAddon() {
  const started = Date.now();
  const useCmake = hasCmake() && (isCheckout || process.platform === 'linux');
  if (!useCmake) install(buildWithGyp());
  else install(isCheckout ? buildWithCmake() : buildWithCmakeAlone());
  const tool = useCmake ? (isCheckout ? 'cmake-js' : 'CMake') : 'node-gyp';
  console.error(`built the addon with ${tool} in ${Date.now() - started} ms`);
}

function installPackage() {
  const reason = whyNotPrebuilt(root);
  if (reason !== undefined) {
    console.error(`no prebuilt addon loads here (${reason}): building it`);
    buildAddon();
  }
  prunePackage(root);
}

/** Compiles the addon, and beside it the program, so that the first start builds nothing. */
async function installCheckout() {
  // Without devDependencies the bundler is missing: only the addon can be built.
  if (!existsSync(path.join(root, 'node_modules/esbuild'))) return buildAddon();
  const program = spawn(process.execPath, [path.join(root, 'scripts/build.mjs'), 'program'], {
    stdio: 'inherit',
  });
  const ended = once(program, 'exit');
  buildAddon();
  const [status] = await ended;
  if (status !== 0) process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (isCheckout) await installCheckout();
  else installPackage();
}
