/** Builds what a virtual machine boots from, out of Debian packages: a kernel, an initramfs and disks with systemd. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CACHE = path.join(ROOT, 'build/vm');
const GUEST = path.join(ROOT, 'test/vm/guest');

const PACKAGES = [
  'systemd-sysv',
  'dbus',
  'libpam-systemd',
  'polkitd',
  'udev',
  'kmod',
  'libstdc++6',
  'procps',
  'iproute2',
  'util-linux',
  'mount',
  'dbus-user-session',
];

/** The kernel's modules that the machine needs, and what they need: folders and files below /lib/modules/V/kernel. */
const MODULES = [
  'drivers/virtio/*',
  'drivers/nvme/host/nvme.ko',
  'drivers/nvme/host/nvme-core.ko',
  'drivers/ata/libata.ko',
  'drivers/ata/libahci.ko',
  'drivers/ata/ahci.ko',
  'drivers/scsi/scsi_common.ko',
  'drivers/scsi/scsi_mod.ko',
  'drivers/scsi/sd_mod.ko',
  'drivers/scsi/virtio_scsi.ko',
  'block/t10-pi.ko',
  'lib/crc-t10dif.ko',
  'lib/crc64*.ko',
  'drivers/block/virtio_blk.ko',
  'drivers/block/loop.ko',
  'drivers/char/virtio_console.ko',
  'drivers/net/virtio_net.ko',
  'drivers/net/net_failover.ko',
  'net/core/failover.ko',
  'drivers/input/evdev.ko',
  'drivers/input/misc/uinput.ko',
  'fs/ext4/*',
  'fs/jbd2/*',
  'fs/mbcache.ko',
  'lib/crc16.ko',
  'lib/libcrc32c.ko',
  'crypto/crc32c_generic.ko',
  'crypto/crct10dif_*.ko',
];

/** The files that `boot` needs; every path is absolute. */
export interface Image {
  readonly kernel: string;
  readonly initramfs: string;
  /** The root filesystem, and disks that only the test of disks looks at. */
  readonly disks: readonly string[];
  /** Further arguments of qemu. */
  readonly devices?: readonly string[];
  /** The kernel's version. */
  readonly version: string;
  /** Whether all packages were still unpacked from an earlier run. */
  readonly wasKept: boolean;
}

function run(command: string, args: readonly string[], options: { readonly cwd?: string } = {}): string {
  return execFileSync(command, args, { ...options, encoding: 'utf8', maxBuffer: 64 << 20, stdio: 'pipe' });
}

/** The Debian release of this machine: its packages and the addon built here fit together. */
export function debianRelease(): string | undefined {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^ID=debian$/m.test(text) ? /^VERSION_CODENAME=(\w+)$/m.exec(text)?.[1] : undefined;
}

/** Why no machine can be built and started here; undefined where one can. */
export function whyNoImage(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'for Linux on x64';
  if (debianRelease() === undefined) return 'for Debian, whose packages the machine is made of';
  if (process.getuid?.() !== 0) return 'needs root, to lay out files of other users';
  const missing = ['mmdebstrap', 'qemu-system-x86_64', 'mke2fs', 'depmod', 'dpkg-deb'].filter(
    (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
}

/** A week at most, so that packages do not grow old. */
const isKept = (file: string) => existsSync(file) && Date.now() - statSync(file).mtimeMs < 7 * 24 * 3600e3;

/** Keeps what took long: packages, unpacked. */
export function kept(name: string, make: (target: string) => void): string {
  const target = path.join(CACHE, name);
  if (isKept(target)) return target;
  mkdirSync(CACHE, { recursive: true });
  rmSync(target, { recursive: true, force: true });
  rmSync(`${target}.part`, { recursive: true, force: true });
  make(`${target}.part`);
  renameSync(`${target}.part`, target);
  return target;
}

const hashOf = (list: readonly string[]) =>
  createHash('sha256').update(list.join()).digest('hex').slice(0, 12);
const baseName = (release: string) => `base-${release}-${hashOf(PACKAGES)}.tar`;
const KERNEL_NAME = `kernel-${hashOf(MODULES)}`;

function baseTar(release: string): string {
  const list = PACKAGES.join(',');
  return kept(baseName(release), (target) =>
    run('mmdebstrap', ['--variant=minbase', '--format=tar', `--include=${list}`, release, target]),
  );
}

/** A folder with boot/vmlinuz-V, the modules wanted and a static busybox. */
function kernelFolder(): string {
  return kept(KERNEL_NAME, (target) => {
    mkdirSync(target);
    const meta = run('apt-cache', ['show', '--no-all-versions', 'linux-image-amd64']);
    const image = /^Depends: (\S+)/m.exec(meta)?.[1];
    if (image === undefined) throw new Error('no package linux-image-amd64 is known: run apt-get update');
    run('apt-get', ['download', image, 'busybox-static'], { cwd: target });
    for (const file of readdirSync(target).filter((name) => name.endsWith('.deb'))) {
      const wanted = file.startsWith('busybox')
        ? ['./bin/busybox']
        : ['./boot/vmlinuz-*', ...MODULES.map((module) => `./lib/modules/*/kernel/${module}`)];
      const unpack = `dpkg-deb --fsys-tarfile "$1" | tar -x --wildcards -C "$2" "\${@:3}"`;
      run('bash', ['-o', 'pipefail', '-c', unpack, 'bash', path.join(target, file), target, ...wanted]);
      rmSync(path.join(target, file));
    }
  });
}

function kernelVersion(folder: string): string {
  const [version] = readdirSync(path.join(folder, 'lib/modules'));
  if (version === undefined) throw new Error(`no modules in ${folder}`);
  return version;
}

/** busybox, the kernel's modules and `init`, the program that the kernel starts; what else is in `folder` goes in too. */
function makeInitramfs(folder: string, kernel: string, init: string, target: string): void {
  mkdirSync(path.join(folder, 'bin'), { recursive: true });
  for (const name of ['dev', 'proc', 'sys', 'root']) mkdirSync(path.join(folder, name));
  copyFileSync(path.join(kernel, 'bin/busybox'), path.join(folder, 'bin/busybox'));
  cpSync(path.join(kernel, 'lib'), path.join(folder, 'lib'), { recursive: true });
  copyFileSync(path.join(GUEST, init), path.join(folder, 'init'));
  chmodSync(path.join(folder, 'init'), 0o755);
  run('depmod', ['-b', folder, kernelVersion(kernel)]);
  const pack = 'find . | "$1" cpio -o -H newc >"$2"';
  run('sh', ['-c', pack, 'sh', path.join(kernel, 'bin/busybox'), target], { cwd: folder });
}

/** Installs hostwire in the root filesystem `folder`, with its unit enabled. */
export type Install = (folder: string) => void;

/** With the script of the checkout, and this machine's Node. */
function installByScript(folder: string): void {
  copyFileSync(process.execPath, path.join(folder, 'usr/local/bin/node'));
  chmodSync(path.join(folder, 'usr/local/bin/node'), 0o755);
  run(process.execPath, [path.join(ROOT, 'scripts/install.mjs'), '--destdir', folder, '--media-keys']);
  run('systemd-sysusers', [`--root=${folder}`]);
}

/** The Debian package `file`, as apt would unpack it. Nothing in it starts a program outside of `folder`. */
export const installPackage =
  (file: string): Install =>
  (folder) => {
    copyFileSync(file, path.join(folder, 'root/hostwire.deb'));
    run('chroot', [folder, 'dpkg', '--install', '/root/hostwire.deb']);
    // The tests reach the machine over its network.
    rmSync(path.join(folder, 'etc/hostwire/config.yaml'));
  };

/** The release's packages, hostwire, and the test's own files. */
function makeRootfs(folder: string, release: string, kernel: string, install: Install): void {
  mkdirSync(folder);
  run('tar', ['-x', '-C', folder, '--exclude=./dev/*', '-f', baseTar(release)]);
  cpSync(path.join(kernel, 'lib/modules'), path.join(folder, 'lib/modules'), { recursive: true });
  run('depmod', ['-b', folder, kernelVersion(kernel)]);
  install(folder);
  cpSync(path.join(GUEST, 'root'), folder, { recursive: true });
  // Where the machine mounts its disks, now and later.
  for (const point of ['srv/sealed', 'srv/late', 'srv/again'])
    mkdirSync(path.join(folder, point), { recursive: true });
  for (const unit of ['hostwire.service', 'agent.service', 'systemd-networkd.service'])
    run('systemctl', [`--root=${folder}`, 'enable', unit]);
}

function makeDisk(file: string, megabytes: number, options: readonly string[]): string {
  run('mke2fs', ['-q', '-t', 'ext4', ...options, file, `${megabytes}M`]);
  return file;
}

/** Everything in `folder`, which is the caller's to remove; what can be used again is kept below build/. */
export function buildImage(folder: string, release: string, install: Install = installByScript): Image {
  const wasKept = [baseName(release), KERNEL_NAME].every((name) => isKept(path.join(CACHE, name)));
  const kernel = kernelFolder();
  const version = kernelVersion(kernel);
  const initramfs = path.join(folder, 'initramfs');
  makeInitramfs(path.join(folder, 'early'), kernel, 'init.sh', initramfs);
  const rootfs = path.join(folder, 'rootfs');
  makeRootfs(rootfs, release, kernel, install);
  const disks = [
    makeDisk(path.join(folder, 'root.ext4'), 900, ['-L', 'system', '-d', rootfs]),
    makeDisk(path.join(folder, 'home.ext4'), 64, ['-L', 'people']),
    makeDisk(path.join(folder, 'sealed.ext4'), 32, ['-L', 'sealed']),
    makeDisk(path.join(folder, 'late.ext4'), 16, ['-L', 'late']),
  ];
  rmSync(rootfs, { recursive: true });
  return { kernel: path.join(kernel, 'boot', `vmlinuz-${version}`), initramfs, disks, version, wasKept };
}

/** A machine without a root filesystem: busybox, one program as /bin/NAME, and what `devices` adds for qemu. */
export function buildSmallImage(folder: string, program: string, devices: readonly string[]): Image {
  const wasKept = isKept(path.join(CACHE, KERNEL_NAME));
  const kernel = kernelFolder();
  const version = kernelVersion(kernel);
  const early = path.join(folder, 'early');
  mkdirSync(path.join(early, 'bin'), { recursive: true });
  copyFileSync(program, path.join(early, 'bin', path.basename(program)));
  const initramfs = path.join(folder, 'initramfs');
  makeInitramfs(early, kernel, 'init-small.sh', initramfs);
  const disks = [makeDisk(path.join(folder, 'virtual.ext4'), 16, [])];
  return {
    kernel: path.join(kernel, 'boot', `vmlinuz-${version}`),
    initramfs,
    disks,
    devices,
    version,
    wasKept,
  };
}
