// Runs clang-tidy over C++ sources, one process per CPU. A clean file is not checked again until something it is compiled
// from changes: an empty file in the user's cache folder, named after a digest of all inputs, marks it as clean.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const DATABASE = path.join(root, 'build/cmake');
const CACHE = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'),
  'hostwire/clang-tidy',
);
/** Marks that no branch has used for this long are removed. */
const MAX_UNUSED_MS = 30 * 24 * 60 * 60_000;

/** The files of this repository that `file` includes, at any depth. The compiler's version stands for system headers. */
function includedBy(file, found = new Set()) {
  const folders = [path.dirname(file), 'native'];
  for (const [, name] of readFileSync(path.join(root, file), 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
    const header = folders
      .map((folder) => path.join(folder, name))
      .find((each) => existsSync(path.join(root, each)));
    if (header === undefined || found.has(header)) continue;
    found.add(header);
    includedBy(header, found);
  }
  return found;
}

function versionOf(command) {
  return spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout ?? '';
}

/** The cache file of each source, named after a digest of everything that its verdict depends on. */
function digests(command, files, args) {
  const database = JSON.parse(readFileSync(path.join(DATABASE, 'compile_commands.json'), 'utf8'));
  const commands = new Map(database.map((entry) => [path.relative(root, entry.file), entry.command]));
  const common = [
    versionOf(command),
    versionOf('c++'),
    readFileSync(path.join(root, '.clang-tidy')),
    readFileSync(path.join(root, 'node_modules/node-addon-api/package.json')),
    args.join(' '),
  ];
  return files.map((file) => {
    const hash = createHash('sha256');
    for (const part of [...common, commands.get(file)?.replaceAll(root, '') ?? ''])
      hash.update(part).update('\0');
    for (const each of [file, ...[...includedBy(file)].sort()])
      hash
        .update(each)
        .update('\0')
        .update(readFileSync(path.join(root, each)));
    return path.join(CACHE, hash.digest('hex'));
  });
}

function lookAt(command, file, args) {
  const child = spawn(command, ['-quiet', '-p', DATABASE, ...args, file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ isClean: false, text: String(error) }));
    child.once('close', (status) => resolve({ isClean: status === 0, text }));
  });
}

function removeUnused() {
  for (const name of readdirSync(CACHE)) {
    const file = path.join(CACHE, name);
    if (statSync(file).mtimeMs < Date.now() - MAX_UNUSED_MS) rmSync(file, { force: true });
  }
}

/** Runs `command` on `files`, with `args` added; returns its complaints. */
export async function tidy(command, files, args = []) {
  mkdirSync(CACHE, { recursive: true });
  const places = digests(command, files, args);
  const complaints = [];
  const waiting = [];
  for (const [index, file] of files.entries()) {
    const place = places[index];
    if (existsSync(place)) utimesSync(place, new Date(), new Date());
    else waiting.push({ file, place });
  }
  console.error(`clang-tidy: ${waiting.length} of ${files.length} files changed`);
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { isClean, text } = await lookAt(command, next.file, args);
      if (isClean) writeFileSync(next.place, '');
      else complaints.push(text);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
  removeUnused();
  return complaints;
}
