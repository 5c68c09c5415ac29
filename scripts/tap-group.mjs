// Runs test files one after the other in this process:  node scripts/tap-group.mjs FILE.test.js…
// For files that only compute: starting a process for each takes longer than most of them do.
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { t } from 'tap';

for (const file of process.argv.slice(2)) {
  t.comment(file);
  await import(pathToFileURL(path.resolve(file)).href);
}
