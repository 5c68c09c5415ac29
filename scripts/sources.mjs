// The addon's sources: every .cc file below the folders that native/sources.json lists for a group.
//   node scripts/sources.mjs [PLATFORM] [--single]   prints what binding.gyp compiles on this platform, one per line
// On Linux these are files in build/unity, written here, which include the sources of one folder each: so the headers of
// the C++ library are read once for all of them. With --single or HOSTWIRE_UNITY=OFF they are the sources themselves.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const GROUPS = JSON.parse(readFileSync(path.join(root, 'native/sources.json'), 'utf8'));
const UNITY = 'build/unity';
/** As in CMakeLists.txt: more would leave processors without work. */
const MAX_SOURCES_PER_FILE = 12;

/** Returns the sources of named groups (`shared`, `linux`, `windows`, `unsupported`), sorted, relative to the root. */
export function sourcesOf(...groups) {
  return groups
    .flatMap((group) => GROUPS[group])
    .flatMap((entry) =>
      entry.endsWith('.cc')
        ? [entry]
        : readdirSync(path.join(root, entry), { recursive: true })
            .map((file) => path.posix.join(entry, String(file).replaceAll('\\', '/')))
            .filter((file) => file.endsWith('.cc')),
    )
    .sort();
}

/** Returns the text of each file in build/unity that includes some of `sources`, by its path. */
export function unityFiles(sources) {
  const files = new Map();
  const counts = new Map();
  for (const source of sources) {
    const folder = path.posix.dirname(source);
    const count = counts.get(folder) ?? 0;
    counts.set(folder, count + 1);
    const name = `${folder.replaceAll('/', '_')}_${Math.floor(count / MAX_SOURCES_PER_FILE)}.cc`;
    const file = path.posix.join(UNITY, name);
    files.set(file, `${files.get(file) ?? ''}#include "${path.posix.relative(UNITY, source)}"\n`);
  }
  return files;
}

/** A file that has this text already is left unchanged: make compiles it again if its time is newer. */
function writeChanged(file, text) {
  try {
    if (readFileSync(file, 'utf8') === text) return;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  writeFileSync(file, text);
}

function writeUnity(sources) {
  const files = unityFiles(sources);
  mkdirSync(path.join(root, UNITY), { recursive: true });
  for (const [file, text] of files) writeChanged(path.join(root, file), text);
  return [...files.keys()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const name = args.find((arg) => !arg.startsWith('--')) ?? process.platform;
  const platform = name === 'win32' ? 'windows' : name;
  const sources = sourcesOf('shared', platform in GROUPS ? platform : 'unsupported');
  const isSingle = args.includes('--single') || process.env.HOSTWIRE_UNITY === 'OFF';
  console.log((isSingle || platform !== 'linux' ? sources : writeUnity(sources)).join('\n'));
}
