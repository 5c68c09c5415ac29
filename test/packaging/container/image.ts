/** Builds the container image of packaging/container/ with buildah, on root filesystems made of Debian's packages. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { kept } from '../../vm/image.ts';
import type { Image } from './run.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../../..');
const RELEASE = 'bookworm';
const LIMIT_MS = 1_800_000;

const TOOLS = ['buildah', 'mmdebstrap', 'unshare', 'nsenter', 'setpriv', 'git'];

/** Why no image can be built and run here; undefined where one can. */
export function whyNoImage(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, for namespaces';
  const missing = TOOLS.filter(
    (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
}

function run(command: string, args: readonly string[]): string {
  const options = { cwd: ROOT, encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 64 << 20 } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return stdout;
  const why = error?.message ?? `${stdout}${stderr}`.slice(-4000);
  throw new Error(`${[command, ...args].join(' ')}: ${why}`);
}

const bootstrap = (target: string, variant: string, packages: readonly string[], hook = 'true') =>
  run('mmdebstrap', [
    ...[`--variant=${variant}`, '--format=tar', `--include=${packages.join(',')}`],
    ...[`--customize-hook=${hook}`, RELEASE, target],
  ]);

/** As node:NN-bookworm: a compiler, and this machine's Node with npm and its headers. */
function buildTar(): string {
  const prefix = path.dirname(path.dirname(process.execPath));
  const hook = `set -e
mkdir -p "$1/usr/local/bin" "$1/usr/local/lib/node_modules" "$1/usr/local/include"
cp "${process.execPath}" "$1/usr/local/bin/node"
cp -r "${prefix}/lib/node_modules/npm" "$1/usr/local/lib/node_modules/"
cp -r "${prefix}/include/node" "$1/usr/local/include/"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"
cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"`;
  const packages = ['g++', 'make', 'python3', 'git', 'ca-certificates'];
  return kept(`container-build-${process.version}.tar`, (target) =>
    bootstrap(target, 'minbase', packages, hook),
  );
}

/** Neither a shell nor a package manager, like the images that are called distroless. */
function baseTar(): string {
  const packages = ['base-files', 'libc6', 'libstdc++6', 'libgcc-s1', 'libsystemd0'];
  return kept('container-base.tar', (target) => bootstrap(target, 'extract', packages));
}

/** Copies the files that .dockerignore lets through; with this build's addon in prebuilds/ unless the image compiles it. */
function makeContext(folder: string, isCompiled: boolean): void {
  const ignore = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8');
  writeFileSync(path.join(folder, '.dockerignore'), ignore);
  for (const [, name = ''] of ignore.matchAll(/^!(.+)$/gm)) {
    if (name === 'prebuilds') continue;
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  if (isCompiled) return;
  const prebuilt = path.join(folder, `prebuilds/linux-${process.arch}`);
  mkdirSync(prebuilt, { recursive: true });
  copyFileSync(path.join(ROOT, 'dist/hostwire.node'), path.join(prebuilt, 'hostwire.node'));
}

interface Inspected {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface BuiltImage extends Image {
  /** The words after "CMD" of its HEALTHCHECK. */
  readonly health: readonly string[];
  readonly sizes: { readonly base: number; readonly program: number; readonly compressed: number };
  readonly remove: () => void;
}

interface Store {
  readonly buildah: (...args: readonly string[]) => string;
  readonly remove: () => void;
}

function openStore(folder: string): Store {
  const storage = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')];
  const driverWorks = (driver: string) =>
    spawnSync('buildah', [...storage, '--storage-driver', driver, 'from', 'scratch']).status === 0;
  // Overlay copies nothing; not every file system can hold one.
  const driver = driverWorks('overlay') ? 'overlay' : 'vfs';
  const buildah = (...args: readonly string[]) =>
    run('buildah', [...storage, '--storage-driver', driver, ...args]).trim();
  return {
    buildah,
    remove: () => {
      buildah('rm', '--all');
      buildah('rmi', '--all', '--force');
      // A mount of the driver.
      if (driver === 'overlay') spawnSync('umount', ['-l', path.join(folder, 'storage/overlay')]);
    },
  };
}

function importTar({ buildah }: Store, tar: string, name: string): void {
  const container = buildah('from', 'scratch');
  buildah('add', '--quiet', container, tar, '/');
  // Where a registry has a certificate of a company, npm finds its issuer by this variable.
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  if (authorities !== undefined) buildah('config', '--env', `NODE_EXTRA_CA_CERTS=${authorities}`, container);
  buildah('commit', '--quiet', container, `localhost/${name}`);
  buildah('rm', container);
}

function sizesOf({ buildah }: Store, folder: string) {
  const target = path.join(folder, 'oci');
  buildah('push', '--quiet', '--format', 'oci', 'localhost/hostwire', `oci:${target}`);
  const blob = (digest: string) => path.join(target, 'blobs', digest.replace(':', '/'));
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as unknown;
  const index = read(path.join(target, 'index.json')) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  const manifest = read(blob(index.manifests[0]?.digest ?? '')) as {
    readonly layers: readonly { readonly size: number; readonly digest: string }[];
  };
  const plain = manifest.layers.map(({ digest }) =>
    Number(run('sh', ['-c', 'gzip -dc "$1" | wc -c', 'sh', blob(digest)])),
  );
  const [base = 0, program = 0] = plain;
  return { base, program, compressed: manifest.layers.reduce((sum, { size }) => sum + size, 0) };
}

/** Everything in `folder`; `remove` unmounts what is there. */
export function buildImage(folder: string, isCompiled: boolean): BuiltImage {
  const store = openStore(folder);
  const { buildah } = store;
  importTar(store, buildTar(), 'build');
  importTar(store, baseTar(), 'base');
  const context = path.join(folder, 'context');
  mkdirSync(context);
  makeContext(context, isCompiled);
  const npmrc = path.join(folder, 'npmrc');
  const own = path.join(os.homedir(), '.npmrc');
  if (existsSync(own)) copyFileSync(own, npmrc);
  else writeFileSync(npmrc, '');
  const commit = run('git', ['log', '-1', '--format=%H %cs']).trim();
  const args = { BUILD: 'localhost/build', BASE: 'localhost/base', COMMIT: commit };
  buildah(
    ...['bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--layers=false'],
    ...['--secret', `id=npmrc,src=${npmrc}`],
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...[
      '--file',
      path.join(context, 'packaging/container/Dockerfile'),
      '--tag',
      'localhost/hostwire',
      context,
    ],
  );
  const inspected = JSON.parse(buildah('inspect', '--type', 'image', 'localhost/hostwire')) as {
    readonly Docker: { readonly config: Inspected };
  };
  const { User: user, Entrypoint: command, Healthcheck } = inspected.Docker.config;
  const rootfs = buildah('mount', buildah('from', 'localhost/hostwire'));
  const health = Healthcheck.Test.slice(1);
  return { rootfs, user, command, health, sizes: sizesOf(store, folder), remove: store.remove };
}
