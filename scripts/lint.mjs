// Lint and format: Biome for TypeScript and JSON, clang-format and clang-tidy for C++. `--write` mends what it can.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { buildWithCmake } from './build.mjs';
import { findCommand } from './needs.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const isWriting = process.argv.includes('--write');
let failures = 0;

function run(title, command, args, input) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', input, maxBuffer: 64 << 20 });
  if (result.status === 0) return;
  failures++;
  console.error(`${title} failed\n${result.stdout}${result.stderr}`);
}

function sources(...endings) {
  return readdirSync(path.join(root, 'native'), { recursive: true })
    .map((file) => path.join('native', String(file)))
    .filter((file) => endings.some((ending) => file.endsWith(ending)))
    .sort();
}

function skip(title, packageName) {
  console.error(`skipped: ${title} (apt-get install ${packageName})`);
  if (process.env.CI === 'true') failures++;
}

run('biome', path.join(root, 'node_modules/.bin/biome'), ['check', ...(isWriting ? ['--write'] : []), '.']);

run('types of web/', process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-b', 'web']);

const format = findCommand('clang-format-14', 'clang-format');
if (format === undefined) skip('clang-format', 'clang-format');
else
  run('clang-format', format, [...(isWriting ? ['-i'] : ['--dry-run', '-Werror']), ...sources('.cc', '.h')]);

const tidy = findCommand('clang-tidy-14', 'clang-tidy');
if (isWriting) process.exitCode = failures === 0 ? 0 : 1;
else if (tidy === undefined) skip('clang-tidy', 'clang-tidy');
else {
  if (!existsSync(path.join(root, 'build/cmake/compile_commands.json'))) buildWithCmake();
  const files = sources('.cc').filter((file) => !/\/(unsupported|fuzz|windows)\//.test(file));
  // xargs runs two at a time: as many as the smallest machine has cores.
  run('clang-tidy', 'xargs', ['-P', '2', '-n', '2', tidy, '-quiet', '-p', 'build/cmake'], files.join('\n'));
}
process.exitCode = failures === 0 ? 0 : 1;
