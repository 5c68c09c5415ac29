/** The output of `--version`, and the source of its commit. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { describeCommit, describeLibc } from '#src/cli/version.js';
import '../helpers/service/dead-buses.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const HASH = '0123456789abcdef0123456789abcdef01234567';
const commits = (await import(pathToFileURL(path.join(ROOT, 'scripts/commit.mjs')).href)) as {
  readonly describeCommit: (folder: string) => string | undefined;
};

t.test('[9.version] version, commit, HTTP engine, Node and C library', async (t) => {
  const print = () =>
    execFileSync(process.execPath, [path.join(ROOT, 'dist/main.js'), '--version'], { encoding: 'utf8' });
  const [version, commit, engine, node, end] = print().split('\n');
  const { version: expected } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  t.equal(version, expected);
  t.match(commit, /^commit: (?:unknown|[0-9a-f]{12} of \d{4}-\d\d-\d\d(?:, with changes)?)$/);
  t.match(engine, /^HTTP engine: /);
  const glibc = execFileSync('getconf', ['GNU_LIBC_VERSION'], { encoding: 'utf8' }).trim();
  t.equal(node, `Node: ${process.version} on ${process.platform} ${process.arch}, ${glibc}`);
  t.equal(end, '');
});

t.test('[9.version] the commit, or that it is unknown', async (t) => {
  t.equal(describeCommit(`${HASH} 2026-11-22\n`), '0123456789ab of 2026-11-22');
  t.equal(describeCommit(`${HASH} 2026-11-22 changed\n`), '0123456789ab of 2026-11-22, with changes');
  for (const text of [undefined, '', '$Format:%H %cs$\n', `${HASH}\n`])
    t.equal(describeCommit(text), 'unknown');
});

t.test('[9.version] the C library', async (t) => {
  t.equal(describeLibc({ header: { glibcVersionRuntime: '2.36' }, sharedObjects: [] }), 'glibc 2.36');
  t.equal(describeLibc({ header: {}, sharedObjects: ['/lib/ld-musl-x86_64.so.1'] }), 'musl');
  t.equal(describeLibc({ header: {}, sharedObjects: [] }), 'an unknown C library');
});

t.test('[9.version] the commit is that of git, or of the archive that git made', async (t) => {
  const folder = t.testdir({ checkout: {}, archive: {}, package: {} });
  const checkout = path.join(folder, 'checkout');
  const variables = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', checkout, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...variables },
    }).trim();
  git('init', '--quiet');
  mkdirSync(path.join(checkout, 'scripts'));
  for (const file of ['.gitattributes', 'scripts/commit.txt'])
    copyFileSync(path.join(ROOT, file), path.join(checkout, file));
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '--message', 'first');
  const commit = git('log', '-1', '--format=%H %cs');
  t.equal(commits.describeCommit(checkout), commit);
  const archive = path.join(folder, 'archive');
  git('archive', '--output', path.join(folder, 'archive.tar'), 'HEAD');
  execFileSync('tar', ['-x', '-C', archive, '-f', path.join(folder, 'archive.tar')]);
  // This repository, whose commit would be a wrong one, is above the folder.
  t.equal(commits.describeCommit(archive), commit);
  t.equal(commits.describeCommit(path.join(folder, 'package')), undefined);
  copyFileSync(path.join(ROOT, 'package.json'), path.join(checkout, 'scripts/commit.txt'));
  t.equal(commits.describeCommit(checkout), `${commit} changed`);
});
