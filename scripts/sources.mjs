// The addon's sources: every .cc file below the folders that native/sources.json lists for a group.
//   node scripts/sources.mjs [PLATFORM]   prints those of this platform (binding.gyp reads that), one per line
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const GROUPS = JSON.parse(readFileSync(path.join(root, 'native/sources.json'), 'utf8'));

/** The sources of the named groups (`shared`, `linux`, `windows`, `unsupported`), sorted, relative to the root. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const platform = (process.argv[2] ?? process.platform) === 'win32' ? 'windows' : process.platform;
  console.log(sourcesOf('shared', platform in GROUPS ? platform : 'unsupported').join('\n'));
}
