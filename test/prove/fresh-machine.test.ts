/**
 * The two commands of the README on a Debian 12 with nothing but Node, git, python3, make and g++, as a user without rights:
 * `npm ci && npm start`, and `npm test` without a network.
 */
import '../helpers/service/dead-buses.ts';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { findNpm } from '../helpers/packages.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { whyNoRoot } from '../packaging/debian-root.ts';
import { kept } from '../vm/image.ts';

t.setTimeout(3_000_000);

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const PACKAGES = ['git', 'python3', 'make', 'g++', 'ca-certificates'];
const USER = '1000:1000';

/** In namespaces of its own: arguments are the folder, a user, "online" or "offline", and a command for a shell. */
const ENTER = `set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
exec chroot --userspec="$2" "$1" env -i HOME=/home/builder PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 \
  sh -c "cd /home/builder/hostwire && $3"`;

/** The root filesystem of packages, without what this test puts into it. */
function makeRoot(target: string): void {
  const base = kept('fresh-machine', (folder) => {
    mkdirSync(folder);
    execFileSync('mmdebstrap', [
      ...['--quiet', '--variant=minbase', `--include=${PACKAGES.join(',')}`],
      ...['bookworm', path.join(folder, 'root')],
    ]);
  });
  execFileSync('cp', ['-a', path.join(base, 'root'), target]);
  // This Node, with npm and its headers, as an installation has them.
  const prefix = path.join(target, 'usr/local');
  mkdirSync(path.join(prefix, 'bin'), { recursive: true });
  copyFileSync(process.execPath, path.join(prefix, 'bin/node'));
  cpSync(findNpm(), path.join(prefix, 'lib/node_modules/npm'), { recursive: true });
  execFileSync('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', path.join(prefix, 'bin/npm')]);
  const headers = path.join(path.dirname(path.dirname(process.execPath)), 'include/node');
  if (existsSync(headers)) cpSync(headers, path.join(prefix, 'include/node'), { recursive: true });
  const home = path.join(target, 'home/builder');
  mkdirSync(home, { recursive: true });
  execFileSync('git', ['clone', '--quiet', ROOT, path.join(home, 'hostwire')]);
  execFileSync('chown', ['-R', USER, home]);
  // The files that this machine needs to reach its registry of packages.
  for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
    if (existsSync(file)) copyFileSync(file, path.join(target, file));
  const settings = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim();
  if (existsSync(settings)) copyFileSync(settings, path.join(home, '.npmrc'));
}

const unshared = (isOnline: boolean) => [
  ...['--mount', '--pid', '--fork', '--kill-child'],
  ...(isOnline ? [] : ['--net']),
];

/** Arguments of unshare for `command` in `root`; without a network there is the loopback alone. */
function entering(root: string, command: string, isOnline: boolean): readonly string[] {
  const enter = isOnline ? ENTER : `ip link set lo up\n${ENTER}`;
  return [...unshared(isOnline), 'sh', '-c', enter, 'sh', root, USER, command];
}

function run(root: string, command: string, isOnline = false) {
  const started = Date.now();
  const { status, stdout, stderr } = spawnSync('unshare', entering(root, command, isOnline), {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const seconds = Math.round((Date.now() - started) / 1000);
  return { status, text: `${stdout}${stderr}`, seconds };
}

const skip = whyNoRoot('ip') ?? false;

t.test('the two commands of the README on a fresh machine', { skip }, async (t) => {
  const root = path.join(emptyFolder(t), 'root');
  makeRoot(root);
  const environment = ['registry', 'cafile']
    .map((name) => [name, execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim()] as const)
    .filter(([, value]) => value !== 'null' && value !== 'undefined' && value !== '')
    .map(([name, value]) => `npm_config_${name}='${value}'`)
    .join(' ');
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  const extra = authority === undefined ? '' : `NODE_EXTRA_CA_CERTS='${authority}'`;

  const installed = run(root, `${environment} ${extra} npm ci --no-audit --no-fund`, true);
  t.equal(installed.status, 0, installed.text.slice(-4000));
  t.comment(`figure: npm ci ${installed.seconds} s`);

  await t.test('npm start serves', async (t) => {
    const child = spawn('unshare', entering(root, 'npm start & sleep 20; kill $!', false), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = Date.now();
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        text += String(part);
        if (/listening|http:\/\//.test(text) && served === undefined) served = Date.now() - started;
      });
    let served: number | undefined;
    await once(child, 'close');
    t.type(served, 'number', text.slice(-2000));
    t.match(text, /9990/);
    t.comment(`figure: npm start ${((served ?? 0) / 1000).toFixed(1)} s`);
  });

  const tested = run(root, 'npm test');
  t.equal(tested.status, 0, tested.text.slice(-8000));
  const [, passed = '0', failed, rest] =
    /^(\d+) passed, (\d+) failed(.*)$/m.exec(tested.text.replaceAll('\u001b[?25h', '')) ?? [];
  t.ok(Number(passed) > 0, `${passed} passed`);
  t.equal(failed, '0');
  t.equal(rest, '', 'nothing is skipped');
  t.comment(`figure: npm test ${tested.seconds} s, ${passed} passed`);
  rmSync(root, { recursive: true, force: true });
});
