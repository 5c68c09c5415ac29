// Packs and unpacks the captured machines of the tests. The files of a machine are in one text archive,
// test/fixtures/linux/MACHINE/files.txt; the README beside it describes the format. Files that contain NUL stay files.
//   node scripts/fixtures.mjs pack MACHINE FOLDER   writes the archive from FOLDER/before and FOLDER/after
//   node scripts/fixtures.mjs unpack                prints the folder that all machines are unpacked into
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const MACHINES = path.join(root, 'test/fixtures/linux');
const UNPACKED = path.join(root, 'build/fixtures');
const ARCHIVE = 'files.txt';
const UNENDED = ', the last one without an end';

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** Returns one file as its headers and text, decoded as latin1 so that no byte is lost; undefined if it is not text. */
function entryOf(file, name) {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return `Path: ${name}\nSymlinkTo: ${readlinkSync(file)}\n`;
  const text = readFileSync(file, 'latin1');
  if (text.includes('\0')) return undefined;
  const isEnded = text === '' || text.endsWith('\n');
  const lines = text.split('\n').length - (text === '' || isEnded ? 1 : 0);
  const mode = stat.mode & 0o100 ? 'Mode: 755\n' : '';
  return `Path: ${name}\n${mode}Lines: ${lines}${isEnded ? '' : UNENDED}\n${text}${isEnded ? '' : '\n'}`;
}

/** Writes the archive of `folder`/before and `folder`/after; returns the names of the files left out. */
export function pack(folder, archive) {
  const left = [];
  let text = '';
  for (const file of ['before', 'after'].flatMap((moment) => filesUnder(path.join(folder, moment)))) {
    const name = path.relative(folder, file);
    const entry = entryOf(file, name);
    if (entry === undefined) left.push(name);
    else text += entry;
  }
  writeFileSync(archive, text, 'latin1');
  return left;
}

/** Writes the files of an archive into `folder`. */
export function unpack(archive, folder) {
  const lines = readFileSync(archive, 'latin1').split('\n');
  for (let at = 0; at < lines.length - 1; ) {
    const headers = {};
    do {
      const [, key, value] = /^(\w+): (.*)$/.exec(lines[at]) ?? [];
      if (key === undefined) throw new Error(`${archive}:${at + 1}: no header "${lines[at]}"`);
      headers[key] = value;
      at++;
    } while (headers.Lines === undefined && headers.SymlinkTo === undefined);
    const file = path.join(folder, headers.Path);
    mkdirSync(path.dirname(file), { recursive: true });
    if (headers.SymlinkTo !== undefined) {
      symlinkSync(headers.SymlinkTo, file);
      continue;
    }
    const count = Number.parseInt(headers.Lines, 10);
    const text = lines.slice(at, at + count).join('\n');
    writeFileSync(file, headers.Lines.endsWith(UNENDED) || count === 0 ? text : `${text}\n`, 'latin1');
    if (headers.Mode !== undefined) chmodSync(file, Number.parseInt(headers.Mode, 8));
    at += count;
  }
}

const machines = () =>
  readdirSync(MACHINES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

/**
 * Returns the folder with MACHINE/before and MACHINE/after of all machines; unpacks them if the archives have changed.
 */
export function unpackAll() {
  const sources = filesUnder(MACHINES).filter((file) => !/\/golden\/|\.json$|\.md$/.test(file));
  const hash = createHash('sha256');
  for (const file of sources) hash.update(file).update('\0').update(readFileSync(file));
  const target = path.join(UNPACKED, hash.digest('hex').slice(0, 16));
  if (existsSync(target)) return target;
  mkdirSync(UNPACKED, { recursive: true });
  const fresh = mkdtempSync(path.join(UNPACKED, 'new-'));
  for (const name of machines()) unpack(path.join(MACHINES, name, ARCHIVE), path.join(fresh, name));
  for (const file of sources.filter((each) => path.basename(each) !== ARCHIVE))
    cpSync(file, path.join(fresh, path.relative(MACHINES, file)));
  try {
    // Fails if another process was faster.
    renameSync(fresh, target);
  } catch {
    rmSync(fresh, { recursive: true });
  }
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [command, name, folder] = process.argv.slice(2);
  if (command === 'unpack') console.log(unpackAll());
  else if (command === 'pack' && name !== undefined && folder !== undefined) {
    for (const each of pack(folder, path.join(MACHINES, name, ARCHIVE)))
      console.log(`not in the archive, because it contains NUL: ${each}`);
  } else {
    console.error('fixtures.mjs pack MACHINE FOLDER | unpack');
    process.exitCode = 1;
  }
}
