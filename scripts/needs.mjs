// What the tests and checks want of the system beyond Node and a compiler, and the Debian package that has it.
// In CI (CI=true, root) what is missing is installed; elsewhere one apt line says what would be.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const NEEDS = [
  {
    package: 'python3-dbusmock',
    files: ['/usr/lib/python3/dist-packages/dbusmock/__init__.py', '/usr/bin/dbus-daemon'],
    why: "a power manager of the tests' own, on their own bus",
  },
  {
    package: 'libsystemd-dev',
    files: ['/usr/include/systemd/sd-bus.h'],
    why: 'the header that our own declarations are held against',
  },
  { package: 'clang-format', commands: ['clang-format', 'clang-format-14'], why: 'format of the C++' },
  { package: 'clang-tidy', commands: ['clang-tidy', 'clang-tidy-14'], why: 'lint of the C++' },
  { package: 'strace', commands: ['strace'], why: 'tests that count system calls' },
  {
    package: 'python3-requests',
    files: ['/usr/lib/python3/dist-packages/requests/__init__.py'],
    why: 'a client that is not ours',
  },
  { package: 'iproute2', commands: ['ip'], why: 'network namespaces with peers that vanish' },
  { package: 'nftables', commands: ['nft'], why: 'dropping packets of a peer' },
  { package: 'dbus', commands: ['dbus-daemon'], why: "buses of the tests' own" },
  { package: 'mpv', commands: ['mpv'], why: 'a real player' },
  { package: 'mpv-mpris', files: ['/usr/lib/mpv-mpris/mpris.so'], why: 'its way onto the bus' },
  { package: 'playerctl', commands: ['playerctl'], why: 'a witness of what players do' },
  { package: 'systemd', commands: ['systemd-analyze'], why: 'the judge of the shipped units' },
  { package: 'curl', commands: ['curl'], why: 'a client that is not ours' },
  { package: 'chromium', commands: ['chromium'], why: 'the browser that the dashboard is shown in' },
];

/** What only the long runs want: the packages a virtual machine is built and started with. */
const PROOF_NEEDS = [
  { package: 'mmdebstrap', commands: ['mmdebstrap'], why: 'a root filesystem out of packages' },
  { package: 'qemu-system-x86', commands: ['qemu-system-x86_64'], why: 'a machine that may be switched off' },
  { package: 'e2fsprogs', commands: ['mke2fs'], why: "that machine's disks" },
  { package: 'kmod', commands: ['depmod'], why: "that machine's kernel modules" },
  { package: 'clang-14', commands: ['clang++-14'], why: 'fuzzing the parsers' },
  { package: 'firefox-esr', commands: ['firefox-esr'], why: 'the other browser that attacks are tried in' },
  { package: 'libclang-rt-14-dev', files: ['/usr/lib/clang/14/lib/linux'], why: 'libFuzzer and sanitizers' },
];

/** What the build for Windows and its tests want. */
const WINDOWS_NEEDS = [
  {
    package: 'g++-mingw-w64-x86-64-posix',
    commands: ['x86_64-w64-mingw32-g++-posix'],
    why: 'the addon for Windows',
  },
  { package: 'ninja-build', commands: ['ninja'], why: 'its build' },
  { package: 'wine64', files: ['/usr/lib/wine/wine64'], why: 'a Windows to run it on' },
  { package: 'wine', commands: ['wine'], why: 'its commands' },
  { package: 'xvfb', commands: ['Xvfb'], why: 'a display for it' },
];

/** The path of the first of `commands` that exists, or undefined. */
export function findCommand(...commands) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];
  for (const command of commands)
    for (const folder of folders) {
      try {
        accessSync(path.join(folder, command), constants.X_OK);
        return path.join(folder, command);
      } catch {
        // Not in this folder.
      }
    }
  return undefined;
}

function isPresent(need) {
  if (need.commands) return findCommand(...need.commands) !== undefined;
  return need.files.every((file) => {
    try {
      accessSync(file, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Installs what is missing where that is allowed; else prints the one line that would. */
export function provideNeeds({ proofs = false, windows = false } = {}) {
  const wanted = [...NEEDS, ...(proofs ? PROOF_NEEDS : []), ...(windows ? WINDOWS_NEEDS : [])];
  const missing = wanted.filter((need) => !isPresent(need));
  if (missing.length === 0) return;
  const packages = missing.map((need) => need.package);
  const canInstall =
    process.env.CI === 'true' && process.getuid?.() === 0 && findCommand('apt-get') !== undefined;
  if (!canInstall) {
    for (const need of missing)
      console.error(`missing: ${need.package} (${need.why}); what needs it is skipped`);
    console.error(`  apt-get install -y --no-install-recommends ${packages.join(' ')}`);
    return;
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  for (const args of [['update', '-q'], install]) {
    const result = spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    if (result.status !== 0) {
      console.error(`failed: apt-get ${args.join(' ')}`);
      process.exit(1);
    }
  }
}
