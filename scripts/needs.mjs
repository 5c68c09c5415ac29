// The Debian packages that the tests and checks need beyond Node and a compiler. In CI (CI=true, as root) missing ones are
// installed; elsewhere they are printed as one apt-get command.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const NEEDS = [
  {
    package: 'python3-dbusmock',
    files: ['/usr/lib/python3/dist-packages/dbusmock/__init__.py', '/usr/bin/dbus-daemon'],
    why: 'a mock of logind on a private bus',
  },
  {
    package: 'libsystemd-dev',
    files: ['/usr/include/systemd/sd-bus.h'],
    why: 'the header that our own declarations are compared with',
  },
  { package: 'clang-format', commands: ['clang-format', 'clang-format-14'], why: 'format of the C++' },
  { package: 'clang-tidy', commands: ['clang-tidy', 'clang-tidy-14'], why: 'lint of the C++' },
  { package: 'strace', commands: ['strace'], why: 'tests that count system calls' },
  {
    package: 'python3-requests',
    files: ['/usr/lib/python3/dist-packages/requests/__init__.py'],
    why: 'an independent client',
  },
  { package: 'iproute2', commands: ['ip'], why: 'network namespaces for peers that vanish' },
  { package: 'etherwake', files: ['/usr/sbin/etherwake'], why: 'another sender of Wake-on-LAN' },
  { package: 'nftables', commands: ['nft'], why: 'dropping the packets of a peer' },
  { package: 'dbus', commands: ['dbus-daemon'], why: 'private buses' },
  { package: 'avahi-daemon', commands: ['avahi-daemon'], why: 'a real responder for mDNS' },
  { package: 'avahi-utils', commands: ['avahi-browse'], why: 'an independent check of what is announced' },
  { package: 'mpv', commands: ['mpv'], why: 'a real player' },
  { package: 'mpv-mpris', files: ['/usr/lib/mpv-mpris/mpris.so'], why: "mpv's connection to the bus" },
  { package: 'playerctl', commands: ['playerctl'], why: 'an independent check of players' },
  { package: 'tmux', commands: ['tmux'], why: 'the terminal of hostwire top' },
  { package: 'man-db', commands: ['man', 'lexgrog'], why: 'the manual page' },
  { package: 'groff', commands: ['groff'], why: 'warnings about the manual page' },
  { package: 'mandoc', commands: ['mandoc'], why: 'lint of the manual page' },
  { package: 'systemd', commands: ['systemd-analyze'], why: 'checks of the shipped units' },
  { package: 'zbar-tools', commands: ['zbarimg'], why: 'an independent reader of the QR codes of pairing' },
  { package: 'curl', commands: ['curl'], why: 'an independent client' },
  { package: 'apache2-utils', commands: ['ab'], why: 'a client that speaks HTTP/1.0' },
  { package: 'chromium', commands: ['chromium'], why: 'the browser that tests the dashboard' },
  { package: 'nginx', commands: ['nginx'], why: 'a reverse proxy of docs/operating.md' },
  { package: 'apache2-bin', commands: ['apache2'], why: 'a reverse proxy of docs/operating.md' },
  { package: 'caddy', commands: ['caddy'], why: 'a reverse proxy of docs/operating.md' },
  {
    package: 'haproxy',
    commands: ['haproxy'],
    why: 'health checks, and a reverse proxy of docs/operating.md',
  },
  { package: 'prometheus', commands: ['prometheus', 'promtool'], why: 'scrapes of a real Prometheus' },
  {
    package: 'prometheus-node-exporter',
    commands: ['prometheus-node-exporter'],
    why: 'the exporter that ours is compared with',
  },
  {
    package: 'prometheus-alertmanager',
    commands: ['prometheus-alertmanager'],
    why: 'a receiver of notifications, as docs/notifications.md configures it',
  },
  { package: 'webhook', commands: ['webhook'], why: 'a receiver of notifications' },
  { package: 'apprise', commands: ['apprise'], why: 'another sender of notifications' },
  { package: 'mosquitto', commands: ['mosquitto', 'mosquitto_passwd'], why: 'an MQTT broker' },
  {
    package: 'nats-server',
    commands: ['nats-server'],
    why: 'a message server whose listener for MQTT hubs use',
  },
  {
    package: 'python3-jinja2',
    files: ['/usr/lib/python3/dist-packages/jinja2/__init__.py'],
    why: "Home Assistant's templates, and a recipe",
  },
];

/** Needed by the long runs only: most of them to build and start a virtual machine. */
const PROOF_NEEDS = [
  { package: 'mmdebstrap', commands: ['mmdebstrap'], why: 'a root filesystem from packages' },
  { package: 'qemu-user-static', commands: ['qemu-aarch64-static'], why: 'the addon for arm64' },
  { package: 'lintian', commands: ['lintian'], why: 'checks of the Debian package' },
  { package: 'xz-utils', commands: ['xz'], why: 'the bundle for Linux' },
  { package: 'zip', commands: ['zip'], why: 'the zip for Windows' },
  { package: 'wixl', commands: ['wixl'], why: 'the installer for Windows' },
  { package: 'msitools', commands: ['msibuild', 'msiinfo'], why: 'the installer for Windows' },
  {
    package: 'binutils-aarch64-linux-gnu',
    commands: ['aarch64-linux-gnu-strip'],
    why: 'a release for arm64',
  },
  {
    package: 'qemu-system-x86',
    commands: ['qemu-system-x86_64'],
    why: 'a virtual machine that may be powered off',
  },
  { package: 'e2fsprogs', commands: ['mke2fs'], why: 'disks of the virtual machine' },
  { package: 'buildah', commands: ['buildah'], why: 'the container image' },
  {
    package: 'faketime',
    files: ['/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'],
    why: 'an agent whose clock is set',
  },
  { package: 'kmod', commands: ['depmod'], why: 'kernel modules of the virtual machine' },
  { package: 'collectd-core', commands: ['collectd'], why: 'a recipe' },
  { package: 'libyajl2', files: ['/usr/lib/x86_64-linux-gnu/libyajl.so.2'], why: "collectd's curl_json" },
  { package: 'python3-httpx', files: ['/usr/lib/python3/dist-packages/httpx/__init__.py'], why: 'a recipe' },
  { package: 'clang-14', commands: ['clang++-14'], why: 'fuzzing the parsers' },
  { package: 'firefox-esr', commands: ['firefox-esr'], why: 'the second browser of the attack tests' },
  {
    package: 'python3-httpx',
    files: ['/usr/lib/python3/dist-packages/httpx/__init__.py'],
    why: 'an independent client',
  },
  {
    package: 'python3-aiohttp',
    files: ['/usr/lib/python3/dist-packages/aiohttp/__init__.py'],
    why: 'an independent client',
  },
  { package: 'default-jdk-headless', commands: ['javac'], why: 'an independent client' },
  { package: 'golang-go', commands: ['go'], why: 'an independent client' },
  { package: 'libclang-rt-14-dev', files: ['/usr/lib/clang/14/lib/linux'], why: 'libFuzzer and sanitizers' },
];

/** Needed by the build for Windows and its tests. */
const WINDOWS_NEEDS = [
  {
    package: 'g++-mingw-w64-x86-64-posix',
    commands: ['x86_64-w64-mingw32-g++-posix'],
    why: 'the addon for Windows',
  },
  { package: 'ninja-build', commands: ['ninja'], why: 'the build for Windows' },
  { package: 'wine64', files: ['/usr/lib/wine/wine64'], why: 'running Windows programs' },
  { package: 'wine', commands: ['wine'], why: 'the commands of Wine' },
  { package: 'xvfb', commands: ['Xvfb'], why: 'a display for Wine' },
];

/** Returns the path of the first of `commands` that exists, or undefined. */
export function findCommand(...commands) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];
  for (const command of commands)
    for (const folder of folders) {
      try {
        accessSync(path.join(folder, command), constants.X_OK);
        return path.join(folder, command);
      } catch {
        // Missing in this folder.
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

/** Installs the missing packages in CI; elsewhere prints the command that would. */
export function provideNeeds({ proofs = false, windows = false } = {}) {
  const wanted = [...NEEDS, ...(proofs ? PROOF_NEEDS : []), ...(windows ? WINDOWS_NEEDS : [])];
  const missing = wanted.filter((need) => !isPresent(need));
  if (missing.length === 0) return;
  const packages = missing.map((need) => need.package);
  const canInstall =
    process.env.CI === 'true' && process.getuid?.() === 0 && findCommand('apt-get') !== undefined;
  if (!canInstall) {
    for (const need of missing)
      console.error(`missing: ${need.package} (${need.why}); the tests that need it are skipped`);
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
