// Compares the files of the HTTP engine with the digests in docs/engine.md, which were recorded when its version was
// chosen.   node scripts/engine.mjs [--write]
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PAGE = path.join(root, 'docs/engine.md');
const ROW = /^\| (\S+) \| `([0-9a-f]{64})` \|$/;
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

function recordedIn(page) {
  const rows = page.split('\n').map((line) => ROW.exec(line));
  return new Map(rows.filter((row) => row !== null).map(([, name, digest]) => [name, digest]));
}

/** Returns one sentence per file that differs from `page`. */
export function findDifferences(folder = FOLDER, page = readFileSync(PAGE, 'utf8')) {
  const found = digestsOf(folder);
  const recorded = recordedIn(page);
  if (recorded.size === 0) return ['docs/engine.md has no digests'];
  return [
    ...[...recorded].filter(([name]) => !found.has(name)).map(([name]) => `${name} is missing`),
    ...[...found]
      .filter(([name, digest]) => recorded.get(name) !== digest)
      .map(([name]) => `${name} is ${recorded.has(name) ? 'not the one that was recorded' : 'not recorded'}`),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--write')) {
    const rest = readFileSync(PAGE, 'utf8')
      .split('\n')
      .filter((line) => !ROW.test(line));
    const rows = [...digestsOf(FOLDER)].map(([name, digest]) => `| ${name} | \`${digest}\` |`);
    writeFileSync(PAGE, `${[...rest.join('\n').trimEnd().split('\n'), ...rows].join('\n')}\n`);
  }
  const differences = findDifferences();
  for (const text of differences) console.error(`uWebSockets.js: ${text}`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}
