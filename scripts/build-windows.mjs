// Builds the addon for Windows on Linux, with mingw-w64, into dist/win32-x64/hostwire.node.
//   node scripts/build-windows.mjs [--check]   (--check: also compiles the sources with Clang, for its warnings)
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findCommand } from './needs.mjs';
import { sourcesOf } from './sources.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const CXX = 'x86_64-w64-mingw32-g++-posix';
const PRESET = 'mingw-w64';
export const WINDOWS_ADDON = path.join(root, 'dist/win32-x64/hostwire.node');

/** Returns the commands for the Windows build that this machine lacks. */
export function missingForWindowsBuild() {
  return [CXX, 'cmake', 'ninja'].filter((command) => findCommand(command) === undefined);
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'pipe', encoding: 'utf8' });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  throw new Error(
    `failed: ${[command, ...args].join(' ')}${result.error ? ` (${result.error.message})` : ''}`,
  );
}

/** Throws an Error that says what is missing or what failed. */
export function buildForWindows() {
  const missing = missingForWindowsBuild();
  if (missing.length > 0)
    throw new Error(
      `${missing.join(', ')} missing: apt-get install -y g++-mingw-w64-x86-64-posix cmake ninja-build`,
    );
  run('cmake', ['--preset', PRESET]);
  run('cmake', ['--build', '--preset', PRESET]);
  mkdirSync(path.dirname(WINDOWS_ADDON), { recursive: true });
  copyFileSync(path.join(root, 'build/win32-x64/hostwire.node'), `${WINDOWS_ADDON}.new`);
  renameSync(`${WINDOWS_ADDON}.new`, WINDOWS_ADDON);
}

/** Returns the folders of g++'s own headers, for Clang, which has none for Windows. */
function standardLibrary() {
  const search = spawnSync(CXX, ['-E', '-x', 'c++', '-', '-v'], { input: '', encoding: 'utf8' }).stderr;
  const listed =
    /#include <\.\.\.> search starts here:\n([\s\S]*?)End of search list/.exec(search)?.[1] ?? '';
  return listed
    .split('\n')
    .map((line) => line.trim())
    .filter((folder) => folder.includes('/c++'));
}

/**
 * Prints Clang's warnings on the sources of the Windows addon; returns whether there are none. Nothing is linked: Clang's
 * linker cannot use g++'s library.
 */
export function checkWithClang() {
  const clang = findCommand('clang++-14', 'clang++');
  if (clang === undefined) throw new Error('clang++ missing: apt-get install -y clang-14');
  const commands = JSON.parse(readFileSync(path.join(root, 'build/win32-x64/compile_commands.json'), 'utf8'));
  const own = new Set(sourcesOf('windows', 'shared').map((file) => path.join(root, file)));
  const include = standardLibrary().flatMap((folder) => ['-isystem', folder]);
  let isClean = true;
  for (const { file, command } of commands.filter((entry) => own.has(entry.file))) {
    const words = command.split(' ').filter((word) => /^-(?:D|I|W|std)/.test(word));
    const system = [...command.matchAll(/-isystem (\S+)/g)].flatMap((match) => ['-isystem', match[1]]);
    const args = [
      '--target=x86_64-w64-mingw32',
      '-fsyntax-only',
      '-nostdinc++',
      ...include,
      ...system,
      ...words,
    ];
    const result = spawnSync(clang, [...args, file], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    isClean = result.status === 0 && isClean;
  }
  return isClean;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const started = Date.now();
  try {
    buildForWindows();
    console.error(`built ${path.relative(root, WINDOWS_ADDON)} in ${Date.now() - started} ms`);
    if (process.argv.includes('--check') && !checkWithClang()) process.exitCode = 1;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
