// Runs clang-tidy over C++ sources, one process per CPU. A clean file is not checked again until something it is compiled
// from changes: an empty file in the user's cache folder, named after a digest of all inputs, marks it as clean.
// The files of a folder are first checked as one text, which reads the standard headers once instead of once per file.
// Only if that finds something is each file checked alone: for messages with its name, and because two files may use one
// name for different things.
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
/** A database with a separate command for each source: listCommands() in addon.mjs. */
const DATABASE = path.join(root, 'build/single');
const CACHE = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'),
  'hostwire/clang-tidy',
);
const BATCHES = path.join(root, 'build/tidy');
const MAX_FILES_PER_BATCH = 8;
/** Marks that no branch has used for this long are removed. */
const MAX_UNUSED_MS = 30 * 24 * 60 * 60_000;

/**
 * Returns the files of this repository that `file` includes, at any depth. The compiler version stands for system
 * headers.
 */
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

/** Returns the compile command of each source. */
function compileCommands() {
  const database = JSON.parse(readFileSync(path.join(DATABASE, 'compile_commands.json'), 'utf8'));
  return new Map(database.map((entry) => [path.relative(root, entry.file), entry.command]));
}

/** Returns the cache file of each source, named after a digest of everything that its verdict depends on. */
function digests(command, commands, files, args) {
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

function lookAt(command, args) {
  const child = spawn(command, ['-quiet', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Groups `waiting` by folder and compiler options. */
function batchesOf(waiting, commands) {
  const groups = new Map();
  for (const each of waiting) {
    // Without the names of source and object; files that CMake does not compile are checked alone.
    const options = commands.get(each.file)?.replace(/ -o .*$/, '');
    const key = options === undefined ? each.file : `${path.dirname(each.file)} ${options}`;
    const group = groups.get(key) ?? { options, members: [] };
    groups.set(key, group);
    group.members.push(each);
  }
  return [...groups.values()].flatMap(({ options, members }) => {
    const count = Math.ceil(members.length / MAX_FILES_PER_BATCH);
    const size = Math.ceil(members.length / count);
    return Array.from({ length: count }, (_, index) => ({
      options,
      members: members.slice(index * size, (index + 1) * size),
    }));
  });
}

/** Returns whether the files of a batch are clean as one text. */
async function isCleanTogether(command, { options, members }, args) {
  const folder = path.dirname(members[0].file);
  const name = `${folder.replaceAll('/', '_')}-${path.basename(members[0].file)}`;
  const text = members.map(({ file }) => readFileSync(path.join(root, file), 'utf8')).join('\n');
  writeFileSync(path.join(BATCHES, name), text);
  const compiler = options.split(' ').slice(1);
  const all = [...args, path.join(BATCHES, name), '--', '-iquote', path.join(root, folder), ...compiler];
  return (await lookAt(command, all)).isClean;
}

function removeUnused() {
  for (const name of readdirSync(CACHE)) {
    const file = path.join(CACHE, name);
    if (statSync(file).mtimeMs < Date.now() - MAX_UNUSED_MS) rmSync(file, { force: true });
  }
}

/** Runs `command` on `files`, with `args` added; returns its complaints. */
export async function tidy(command, files, args = []) {
  for (const folder of [CACHE, BATCHES]) mkdirSync(folder, { recursive: true });
  const commands = compileCommands();
  const places = digests(command, commands, files, args);
  const complaints = [];
  const waiting = [];
  for (const [index, file] of files.entries()) {
    const place = places[index];
    if (existsSync(place)) utimesSync(place, new Date(), new Date());
    else waiting.push({ file, place });
  }
  console.error(`clang-tidy: ${waiting.length} of ${files.length} files changed`);
  const batches = batchesOf(waiting, commands);
  const worker = async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      const isClean = batch.members.length > 1 && (await isCleanTogether(command, batch, args));
      for (const { file, place } of batch.members) {
        const alone = isClean ? { isClean } : await lookAt(command, ['-p', DATABASE, ...args, file]);
        if (alone.isClean) writeFileSync(place, '');
        else complaints.push(alone.text);
      }
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
  removeUnused();
  return complaints;
}
