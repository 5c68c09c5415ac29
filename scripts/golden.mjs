// Rewrites the golden samples of the captured machines with the current code:  node scripts/golden.mjs
// Check each difference against the contract before committing it: a golden sample must be right, not only recorded.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

function run(args, env = {}) {
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (result.status !== 0) process.exit(1);
}

run(['scripts/build.mjs', 'missing', 'tests']);
for (const file of ['fixtures', 'system/fixtures'])
  run([`build/ts/test/stats/${file}.test.js`], { HOSTWIRE_GOLDEN: 'write' });
