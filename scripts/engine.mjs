// Compares the files of the HTTP engine with scripts/engine.sha256, which was recorded when its version was chosen.
//   node scripts/engine.mjs [--write]
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** In the format of sha256sum; names are below FOLDER. */
const DIGESTS = path.join(root, 'scripts/engine.sha256');
const LINE = /^([0-9a-f]{64}) {2}(\S+)$/gm;
const PACKAGE = path.join(root, 'node_modules/uWebSockets.js');
/** The folder with all files that are loaded: uws-pack has it below its top, the official package at its top. */
const FOLDER = [path.join(PACKAGE, 'dist'), PACKAGE].find((folder) => existsSync(folder)) ?? PACKAGE;

/** Returns SHA-256 by name below `folder`. Types are not loaded. */
function digestsOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.endsWith('.d.mts'),
  );
  return new Map(
    files
      .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
      .sort()
      .map((file) => [
        path.relative(folder, file).replaceAll(path.sep, '/'),
        createHash('sha256').update(readFileSync(file)).digest('hex'),
      ]),
  );
}

/** Returns one sentence per file that differs from `digests`. */
export function findDifferences(folder = FOLDER, digests = readFileSync(DIGESTS, 'utf8')) {
  const found = digestsOf(folder);
  const recorded = new Map([...digests.matchAll(LINE)].map(([, digest, name]) => [name, digest]));
  if (recorded.size === 0) return ['scripts/engine.sha256 has no digests'];
  return [
    ...[...recorded].filter(([name]) => !found.has(name)).map(([name]) => `${name} is missing`),
    ...[...found]
      .filter(([name, digest]) => recorded.get(name) !== digest)
      .map(([name]) => `${name} is ${recorded.has(name) ? 'not the one that was recorded' : 'not recorded'}`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--write')) {
    const lines = [...digestsOf(FOLDER)].map(([name, digest]) => `${digest}  ${name}\n`);
    writeFileSync(DIGESTS, lines.join(''));
  }
  const differences = findDifferences();
  for (const text of differences) console.error(`uWebSockets.js: ${text}`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}
