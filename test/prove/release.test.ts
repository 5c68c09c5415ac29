/** A release, made twice from one commit: in other folders, time zones and umasks, with the same bytes. */
import '../helpers/service/dead-buses.ts';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';

t.setTimeout(7_200_000);
const ROOT = path.resolve(import.meta.dirname, '../../../..');
const TOOLS = ['mmdebstrap', 'wixl', 'msibuild', 'zip', 'xz', 'x86_64-w64-mingw32-g++-posix'];
const missing = TOOLS.filter((name) => spawnSync('which', [name], { stdio: 'ignore' }).status !== 0);
const skip =
  process.getuid?.() !== 0
    ? 'needs root, for a chroot'
    : missing.length > 0 && `missing: ${missing.join(', ')}`;

/** A release made in a clone of this commit, at `folder`; returns the folder of its files and the seconds it took. */
function makeRelease(folder: string, zone: string, umask: string) {
  execFileSync('git', ['clone', '--quiet', ROOT, folder]);
  mkdirSync(path.join(folder, 'build'), { recursive: true });
  // Copies only downloads; the sources and objects of this checkout stay here.
  const own = path.join(ROOT, 'build/prebuild/bullseye/src');
  for (const name of ['prebuild', 'runtime'].filter((each) => existsSync(path.join(ROOT, 'build', each))))
    execFileSync('cp', ['-a', path.join(ROOT, 'build', name), path.join(folder, 'build')]);
  rmSync(path.join(folder, path.relative(ROOT, own)), { recursive: true, force: true });
  const run = (command: string) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
    execFileSync('sh', ['-c', `umask ${umask}; ${command}`], {
      cwd: folder,
      env: { ...env, TZ: zone },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  };
  run('npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --silent');
  const startedAt = performance.now();
  run('npm run --silent release -- --dry-run');
  return {
    output: path.join(folder, 'build/release'),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  };
}

t.test('two releases of one commit have the same bytes', { skip }, async (t) => {
  const base = emptyFolder(t, 'release');
  const first = makeRelease(path.join(base, 'one'), 'UTC', '022');
  const files = readdirSync(first.output);
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const debian = version.replace('-', '~');
  t.strictSame(
    files,
    [
      'SHA256SUMS',
      ...['.cdx.json', '-licenses.txt', '-linux-arm64.tar.xz', '-linux-x64.tar.xz', '-source.tar.xz'],
      ...['-win-x64.msi', '-win-x64.zip', '.tgz'],
      ...[
        `hostwire-client-${version}.tgz`,
        `hostwire_${debian}-1_amd64.deb`,
        `hostwire_${debian}-1_arm64.deb`,
      ],
    ]
      .map((name) => (/^hostwire|^SHA/.test(name) ? name : `hostwire-${version}${name}`))
      .sort(),
  );
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: first.output });
  const kept = path.join(base, 'kept');
  cpSync(first.output, kept, { recursive: true });
  rmSync(path.join(base, 'one'), { recursive: true });
  // A longer path, another day, and files that no other user can read.
  const second = makeRelease(path.join(base, 'in another place/two'), 'Pacific/Auckland', '077');
  const sums = (folder: string) => readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  t.strictSame(sums(second.output), sums(kept));
  t.comment(`figure: ${first.seconds} and ${second.seconds} s`);
  for (const file of files) {
    const { size } = statSync(path.join(kept, file));
    if (size > 1e5) t.comment(`figure: ${file} ${(size / 1e6).toFixed(1)} MB`);
  }
});
