/** The npm package of the service: packed, installed into empty prefixes without a network or a compiler, started. */
import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { checkTime } from '../../helpers/limits.ts';
import { bytesIn, installOffline, pack } from '../../helpers/packages.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { startService } from '../../helpers/service/service.ts';

t.setTimeout(3_000_000);

const MAX_INSTALL_MS = 10_000;
const MAX_START_MS = 1000;
const MAX_BYTES = 12e6;
const HERE = `${process.platform}-${process.arch}`;
const UWS = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** True for Node 20 and 22, for which uWebSockets.js has binaries. */
const hasUws = ['115', '127'].includes(process.versions.modules);

const tarball = pack(emptyFolder(t));
t.comment(`figure: tarball ${(statSync(tarball).size / 1e6).toFixed(1)} MB`);

/** Runs `hostwire` of `bin` in place of the program that was built here; `args` begins with that. */
const startFrom = (bin: string) => (_node: string, args: readonly string[], how: SpawnOptions) =>
  spawn('hostwire', args.slice(1), {
    ...how,
    env: { ...how.env, PATH: `${bin}:${path.dirname(process.execPath)}:/usr/bin:/bin` },
  });

async function serves(
  t: Pick<typeof import('tap').t, 'equal' | 'ok' | 'match'>,
  bin: string,
): Promise<number> {
  const began = performance.now();
  const service = await startService({ start: startFrom(bin) });
  const answer = await fetch(`${service.baseUrl}/api/stream`);
  const reader = answer.body?.getReader();
  const first = new TextDecoder().decode((await reader?.read())?.value);
  const tookMs = performance.now() - began;
  await reader?.cancel();
  t.match(first, /^data: \{"timestamp":\d+,/);
  t.match(await (await fetch(service.baseUrl)).text(), /<title>/, 'the dashboard');
  const { memory } = (await (await fetch(`${service.baseUrl}/api/usage`)).json()) as {
    readonly memory: { readonly used: number };
  };
  t.ok(memory.used > 0, 'a real reading');
  t.equal((await service.stop()).code, 0);
  return tookMs;
}

t.test('[9.package] npm install -g of the tarball, offline, without a compiler', async (t) => {
  const prefix = emptyFolder(t);
  const began = performance.now();
  installOffline(t, ['--global', '--prefix', prefix, tarball], prefix);
  const tookMs = performance.now() - began;
  const folder = path.join(prefix, 'lib/node_modules/hostwire');
  const binaries = path.join(folder, 'node_modules/uWebSockets.js/dist/bin');
  t.strictSame(readdirSync(binaries), hasUws ? [UWS] : [], 'of uWebSockets.js, what can load here');
  t.strictSame(readdirSync(path.join(folder, 'prebuilds')), [HERE], 'of the addons, that of this platform');
  t.notOk(existsSync(path.join(folder, 'dist/hostwire.node')), 'nothing was compiled');
  const bytes = bytesIn(prefix) - bytesIn(binaries);
  t.ok(bytes <= MAX_BYTES, `${bytes} bytes without uWebSockets.js's binary`);
  checkTime(t, tookMs, MAX_INSTALL_MS, 'the installation');
  const startMs = await serves(t, path.join(prefix, 'bin'));
  checkTime(t, startMs, MAX_START_MS, 'from the start to the first event');
  t.comment(
    `figure: installed in ${(tookMs / 1000).toFixed(1)} s, ${(bytes / 1e6).toFixed(1)} MB and ` +
      `${(bytesIn(binaries) / 1e6).toFixed(1)} MB of uWebSockets.js, first event after ${startMs.toFixed(0)} ms`,
  );
});

t.test('[9.package] with install scripts blocked it serves too', async (t) => {
  const prefix = emptyFolder(t);
  installOffline(t, ['--global', '--ignore-scripts', '--prefix', prefix, tarball], prefix);
  await serves(t, path.join(prefix, 'bin'));
});

t.test('[9.package] as a dependency of a program, whose other packages stay as they are', async (t) => {
  const folder = emptyFolder(t);
  writeFileSync(path.join(folder, 'package.json'), '{"name": "app", "type": "module"}');
  const other = path.join(folder, 'other/dist/bin');
  const binary = 'uws_darwin_x64_115.node';
  mkdirSync(other, { recursive: true });
  writeFileSync(path.join(folder, 'other/package.json'), '{"name": "uWebSockets.js", "version": "1.0.0"}');
  writeFileSync(path.join(other, binary), '');
  installOffline(t, ['--no-save', '--install-links', './other', tarball], folder);
  await serves(t, path.join(folder, 'node_modules/.bin'));
  const kept = path.join(folder, 'node_modules/uWebSockets.js/dist/bin', binary);
  t.ok(existsSync(kept), "another package's binaries are not touched");
});

t.test('[9.package] the files that the README links are in the package', async (t) => {
  const folder = emptyFolder(t);
  installOffline(t, ['--ignore-scripts', '--prefix', folder, tarball], folder);
  const own = path.join(folder, 'node_modules/hostwire');
  const pages = [
    'README.md',
    ...readdirSync(path.join(own, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
      path.join('docs', name),
    ),
  ];
  const missing = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) =>
      [...readFileSync(path.join(own, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, link = '']) => path.posix.join(path.dirname(page), link))
        .filter((file) => !existsSync(path.join(own, file)))
        .map((file) => `${page}: ${file}`),
    );
  t.strictSame(
    missing.filter((line) => line.startsWith('README.md')),
    [],
  );
  t.comment(missing.join('\n'));
});

t.test('[9.package] without a prebuilt addon it is compiled, if there is a compiler', async (t) => {
  const folder = emptyFolder(t);
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  const own = path.join(folder, 'package');
  rmSync(path.join(own, 'prebuilds'), { recursive: true });
  const install = (programs: string | undefined) => {
    const env = { ...process.env, PATH: programs };
    const args = ['scripts/addon.mjs'];
    return spawnSync(process.execPath, args, { cwd: own, env, encoding: 'utf8', timeout: 1_200_000 });
  };
  const announced = `no prebuilt addon loads here (no binary for ${HERE}): building it\n`;
  const without = install(emptyFolder(t));
  t.equal(without.status, 1);
  t.ok(without.stderr.startsWith(announced), without.stderr);
  t.match(
    without.stderr.slice(announced.length),
    /^[^\n]+g\+\+[^\n]+\n$/,
    'one sentence names what is missing',
  );
  const { status, stderr } = install(process.env['PATH']);
  t.equal(status, 0, stderr);
  t.match(stderr, /^built the addon with (?:CMake|node-gyp) in \d+ ms$/m);
  const main = path.join(own, 'dist/main.js');
  chmodSync(main, 0o755);
  mkdirSync(path.join(folder, 'bin'));
  symlinkSync(main, path.join(folder, 'bin/hostwire'));
  await serves(t, path.join(folder, 'bin'));
  t.comment(`figure: ${/^built the addon .*$/m.exec(stderr)?.[0]}`);
});
