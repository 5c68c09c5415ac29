// Builds the named parts: the addon (with cmake-js, or with node-gyp where CMake is missing), the TypeScript and others.
//   node scripts/build.mjs PART…   (steps, below)
// `missing` builds only parts that do not exist or are older than their sources, `program` these without the addon;
// `tests` are the modules of tests and benches; `types` checks all types and writes the declarations of the client;
// `programs` are the C++ programs of the tests, `sanitized` the same under sanitizers, and `sanitized-addon` the addon
// under AddressSanitizer; `gyp` tries node-gyp, `gyp-single` the same with each source compiled alone. Plain .mjs because
// it runs before any build.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  addonPath,
  apiHeaders,
  buildAddon,
  buildWithCmake,
  configureCmake,
  JOBS,
  run,
  tryGyp,
} from './addon.mjs';
import { buildBundle, writeClientTypes } from './bundle.mjs';
import { writeCommit } from './commit.mjs';
import { compile } from './compile.mjs';
import { unpackAll } from './fixtures.mjs';
import { bundleTap } from './tap-bundle.mjs';
import { hasCmake } from './tools.mjs';
import { buildWeb, isWebMissing } from './web.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

/** @param {(file: string) => boolean} skip */
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
 */
function buildSanitizedAddon() {
  if (process.platform !== 'linux') return;
  const folder = 'build/sanitized/address';
  const options = ['-DCMAKE_BUILD_TYPE=None', '-DHOSTWIRE_SANITIZE=address'];
  run('cmake', ['-S', '.', '-B', folder, ...options, `-DCMAKE_JS_INC=${apiHeaders()}`], true);
  buildTarget(folder, 'hostwire');
}

/** The program in dist/, which users run, and the modules in build/ts/src, which write its documents. */
async function buildProgram() {
  await compile('src');
  // The API documents, from the schemas that were just compiled.
  run(process.execPath, [path.join(root, 'build/ts/src/api/generate.js')]);
  writeCommit();
  // The manual page, whose date is that of the commit.
  run(process.execPath, [path.join(root, 'build/ts/src/cli/share/generate.js')]);
  await buildBundle();
}

/** Ends this program if a type is wrong. By TypeScript 7, which is native; scripts use the API of 5, which it lacks. */
async function checkTypes() {
  const started = Date.now();
  const tsc = path.join(path.dirname(require.resolve('tsc/package.json')), 'bin/tsc');
  run(process.execPath, [tsc, '-b', 'test', 'web', 'scripts']);
  await writeClientTypes();
  console.error(`checked the types in ${Date.now() - started} ms`);
}

/** Returns whether a part of the program does not exist or is older than its sources. */
function isProgramMissing() {
  const used = ['package-lock.json', 'tsconfig.json', 'scripts/bundle.mjs', 'packaging/config.yaml'];
  const newest = Math.max(newestIn('src'), ...used.map((file) => statSync(path.join(root, file)).mtimeMs));
  const built = [
    'dist/main.js',
    'dist/client/client.js',
    'dist/config.yaml',
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
    await steps.program();
  },
  async program() {
    if (isProgramMissing()) await buildProgram();
    if (isWebMissing()) await buildWeb();
    writeCommit();
  },
  web: buildWeb,
  async tests() {
    await compile('src', 'test', 'bench', 'web');
    await bundleTap();
    unpackAll();
  },
  types: checkTypes,
  async all() {
    buildAddon();
    await buildProgram();
    await buildWeb();
    await steps.tests();
    await checkTypes();
  },
  clean() {
    rmSync(path.join(root, 'dist'), { recursive: true, force: true });
    rmSync(path.join(root, 'build'), { recursive: true, force: true });
  },
  cmake: buildWithCmake,
  gyp: () => tryGyp(),
  'gyp-single': () => tryGyp(true),
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
