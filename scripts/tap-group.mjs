// Runs test files one after the other in this process:  node scripts/tap-group.mjs FILE.test.js…
// For files that only compute: starting a process for each takes longer than most of them do.
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

// That of the files (tap-bundle.mjs).
const bundle = new URL('../build/ts/node_modules/tap/index.js', import.meta.url).href;
/** @type {typeof import('tap')} */
const { t } = await import(bundle);

for (const file of process.argv.slice(2)) {
  t.comment(file);
  await import(pathToFileURL(path.resolve(file)).href);
}
