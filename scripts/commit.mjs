// The commit that the program is built from, for `hostwire --version`: dist/commit.txt has its hash and date.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const WRITTEN = /^[0-9a-f]{40} \d{4}-\d\d-\d\d(?: changed)?$/;

function git(folder, ...args) {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * Returns `HASH DATE`, and ` changed` if files differ from it; undefined if it is unknown. Taken from git or, in an
 * archive that git made, from the line that it wrote into commit.txt beside this script. Not from a repository that
 * only contains `folder`.
 */
export function describeCommit(folder = ROOT) {
  const top = git(folder, 'rev-parse', '--show-toplevel');
  if (top !== undefined && realpathSync(top) === realpathSync(folder)) {
    const commit = git(folder, 'log', '-1', '--format=%H %cs');
    const changes = git(folder, 'status', '--porcelain', '--untracked-files=no');
    return commit === undefined || changes === undefined
      ? undefined
      : `${commit}${changes === '' ? '' : ' changed'}`;
  }
  const file = path.join(folder, 'scripts/commit.txt');
  const line = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return WRITTEN.test(line) ? line : undefined;
}

/** Not written if it is unknown: the npm package has the file already. */
export function writeCommit() {
  const commit = describeCommit();
  const file = path.join(ROOT, 'dist/commit.txt');
  if (commit === undefined) return;
  if (existsSync(file) && readFileSync(file, 'utf8') === `${commit}\n`) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, `${commit}\n`);
  renameSync(`${file}.new`, file);
}
