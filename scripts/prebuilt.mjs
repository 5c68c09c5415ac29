// The binaries in the published package: the addon for each platform, and those of uWebSockets.js. Which of them can load
// here is found out by loading them, each in a process of its own: a name says nothing about the C library.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** The platforms that scripts/prebuild.mjs builds for. Node-API: one file for every version of Node. */
export const PREBUILT = ['linux-x64', 'linux-arm64', 'win32-x64'];

const HERE = `${process.platform}-${process.arch}`;

/** Versions of Node's C++ interface that a binary of uWebSockets.js fits, of the supported ones: 20 and 22. */
const ABIS = ['115', '127'];

/** Returns whether the package takes this binary of uWebSockets.js; .npmignore gets a pattern of the others. */
export function isShipped(binary) {
  const [, platform, arch, abi] = /^uws_(\w+?)_(\w+?)_(\d+)\.node$/.exec(binary) ?? [];
  return PREBUILT.includes(`${platform}-${arch}`) && ABIS.includes(abi);
}

/** Returns why `file` cannot be loaded by this Node, or undefined. */
function whyNotLoaded(file) {
  if (!existsSync(file)) return `no binary for ${HERE}`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', 'require(process.argv[1])', file], {
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  return /^Error: (.*)$/m.exec(stderr)?.[1] ?? 'Node ended while it loaded it';
}

const prebuiltIn = (root) => path.join(root, 'prebuilds', HERE, 'hostwire.node');

/** Returns why the prebuilt addon of the package at `root` cannot be used here, or undefined. */
export const whyNotPrebuilt = (root) => whyNotLoaded(prebuiltIn(root));

const entriesIn = (folder) => (existsSync(folder) ? readdirSync(folder) : []);

/**
 * Removes files that cannot load here from the package at `root`: addons of other platforms, and all of
 * uWebSockets.js's binaries but one, or all. Only the package's own folder is touched: npm lays out the bundled
 * uWebSockets.js inside it.
 */
export function prunePackage(root) {
  const prebuilds = path.join(root, 'prebuilds');
  for (const name of entriesIn(prebuilds))
    if (name !== HERE || existsSync(path.join(root, 'dist/hostwire.node')))
      rmSync(path.join(prebuilds, name), { recursive: true, force: true });
  const binaries = path.join(root, 'node_modules/uWebSockets.js/dist/bin');
  const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  for (const name of entriesIn(binaries)) {
    const file = path.join(binaries, name);
    if (name !== own || whyNotLoaded(file) !== undefined) rmSync(file, { force: true });
  }
}
