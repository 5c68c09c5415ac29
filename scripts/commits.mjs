// The form of commit messages since the last release: subject `room: what changes`, at most 65 characters; a body
// where src/ or native/ changes. Merges are exempt.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MAX_SUBJECT = 65;
const SUBJECT = /^[a-z][a-z0-9./-]*(?:, [a-z][a-z0-9./-]*)*: \S/;

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  return status === 0 ? stdout : undefined;
}

/** Returns the faults of one message, as texts. `paths` are the files that the commit changes. */
export function faultsOf({ subject, body, paths }) {
  const faults = [];
  if (subject.length > MAX_SUBJECT)
    faults.push(`the subject has ${subject.length} characters, more than ${MAX_SUBJECT}`);
  if (!SUBJECT.test(subject)) faults.push('the subject is not "room: what changes"');
  const needsBody = paths.some((file) => /^(?:src|native)\//.test(file));
  if (needsBody && body.trim() === '')
    faults.push('src/ or native/ changes, and there is no body with the reason');
  return faults;
}

/** The newest release, or else the commit that introduced this rule. Undefined if a shallow history has neither. */
function firstCommit() {
  const tag = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*')?.trim();
  if (tag) return tag;
  if (git('rev-parse', '--is-shallow-repository')?.trim() !== 'false') return undefined;
  return git('log', '--diff-filter=A', '--format=%h', '-1', '--', 'scripts/commits.mjs')?.trim() || undefined;
}

/** Returns `{ faults }` of all messages, or `{ reason }` why they could not be read. */
export function checkCommits() {
  if (git('rev-parse', '--is-inside-work-tree') === undefined)
    return { reason: 'this is not a git repository' };
  const first = firstCommit();
  if (first === undefined) return { reason: 'the history is shallow and does not reach the last release' };
  const log = git('log', '--no-merges', '--format=%x1e%h%x1f%s%x1f%b%x1f', '--name-only', `${first}..HEAD`);
  if (log === undefined) return { reason: 'git log failed' };
  const faults = log
    .split('\x1e')
    .slice(1)
    .flatMap((entry) => {
      const [hash, subject, body, names] = entry.split('\x1f');
      const paths = names.trim().split('\n');
      return faultsOf({ subject, body, paths }).map((fault) => `${hash} "${subject}": ${fault}`);
    });
  return { faults };
}
