// Builds the addons of the npm package, for every platform, into prebuilds/PLATFORM-ARCH/hostwire.node.
//   node scripts/prebuild.mjs [--programs] [PLATFORM-ARCH…]   (all of them without a name; `--programs`: also the C++
// programs of the tests for linux-arm64)
// Those for Linux are built in a root filesystem of Debian 11, below build/prebuild/: the C library that a binary needs
// is decided by the one that it is built with, and there it is 2.31. GCC 10 compiles for both architectures.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildForWindows, WINDOWS_ADDON } from './build-windows.mjs';
import { findCommand } from './needs.mjs';
import { PREBUILT } from './prebuilt.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const RELEASE = 'bullseye';
const PACKAGES = 'g++,cmake,make,g++-aarch64-linux-gnu';
export const DEBIAN = path.join(root, 'build/prebuild', RELEASE);
/** The programs of the tests for linux-arm64. */
export const ARM64_PROGRAMS = path.join(DEBIAN, 'src/build/native/plain');

/** Sources to compile; the folders of test/ for `--programs`. */
const SOURCES = [
  ...['CMakeLists.txt', 'cmake', 'native', 'node_modules/node-addon-api', 'node_modules/node-api-headers'],
  ...['test/native', 'test/windows', 'test/helpers/machine', 'test/vm/read_drives.cc'],
];

const CROSS = [
  ...['-DCMAKE_SYSTEM_NAME=Linux', '-DCMAKE_SYSTEM_PROCESSOR=aarch64'],
  ...['-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++', '-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc'],
];

/** @param {NodeJS.ProcessEnv} env */
function run(command, args, env = { ...process.env, LC_ALL: 'C' }) {
  const result = spawnSync(command, args, { stdio: 'pipe', encoding: 'utf8', env });
  if (result.status === 0) return;
  throw new Error(
    `${result.stdout ?? ''}${result.stderr ?? ''}failed: ${[command, ...args].join(' ')} ${result.error?.message ?? ''}`,
  );
}

/** Runs without this machine's environment: a compiler cache or flags in it would be missing, or change the result. */
const inDebian = (...command) =>
  run('chroot', [DEBIAN, ...command], { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C' });

function provideDebian() {
  const done = path.join(DEBIAN, 'packages');
  if (existsSync(done) && readFileSync(done, 'utf8') === PACKAGES) return;
  if (findCommand('mmdebstrap') === undefined)
    throw new Error('mmdebstrap is missing: install it with "apt-get install mmdebstrap" (Debian)');
  if (process.getuid?.() !== 0) throw new Error('compiling in a root filesystem (chroot) takes root');
  rmSync(DEBIAN, { recursive: true, force: true });
  mkdirSync(path.dirname(DEBIAN), { recursive: true });
  run('mmdebstrap', ['--variant=minbase', `--include=${PACKAGES}`, RELEASE, DEBIAN]);
  writeFileSync(done, PACKAGES);
}

/** Copies files that differ, so that make compiles only those, and removes files that no longer exist. */
function copySources() {
  const target = path.join(DEBIAN, 'src');
  const wanted = new Set();
  const visit = (name) => {
    const from = path.join(root, name);
    const to = path.join(target, name);
    if (statSync(from).isDirectory()) {
      for (const entry of readdirSync(from)) visit(path.join(name, entry));
      return;
    }
    wanted.add(name);
    const bytes = readFileSync(from);
    if (existsSync(to) && readFileSync(to).equals(bytes)) return;
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, bytes);
  };
  SOURCES.forEach(visit);
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    const file = path.relative(target, path.join(entry.parentPath ?? entry.path, entry.name));
    if (entry.isFile() && !file.startsWith('build/') && !wanted.has(file)) rmSync(path.join(target, file));
  }
}

// Replaced, never overwritten: it may be mapped.
function keep(built, name) {
  const target = path.join(root, 'prebuilds', name, 'hostwire.node');
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(built, `${target}.new`);
  renameSync(`${target}.new`, target);
}

function buildForLinux(name, withPrograms) {
  provideDebian();
  copySources();
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DHOSTWIRE_PORTABLE=ON'];
  const headers = '-DCMAKE_JS_INC=/src/node_modules/node-api-headers/include';
  const isArm64 = name === 'linux-arm64';
  const folder = `/src/build/${name}`;
  inDebian('cmake', '-S', '/src', '-B', folder, ...options, headers, ...(isArm64 ? CROSS : []));
  const targets = isArm64 && withPrograms ? ['hostwire', 'programs'] : ['hostwire'];
  const jobs = String(os.availableParallelism());
  inDebian('cmake', '--build', folder, '--parallel', jobs, '--target', ...targets);
  keep(path.join(DEBIAN, folder, 'hostwire.node'), name);
}

/** Throws an Error that says what is missing or what failed. */
export function prebuild(names = PREBUILT, withPrograms = false) {
  for (const name of names) {
    const started = Date.now();
    if (!PREBUILT.includes(name))
      throw new Error(`unknown platform "${name}"; known: ${PREBUILT.join(', ')}`);
    if (name === 'win32-x64') {
      buildForWindows();
      keep(WINDOWS_ADDON, name);
    } else buildForLinux(name, withPrograms);
    console.error(`built prebuilds/${name}/hostwire.node in ${Date.now() - started} ms`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2).filter((name) => name !== '--programs');
  try {
    prebuild(names.length > 0 ? names : PREBUILT, process.argv.includes('--programs'));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
