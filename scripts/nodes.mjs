// The versions of Node that hostwire supports, as npm packages with their binaries.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** One version of each line in `engines` of package.json. */
const SUPPORTED = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

const majorOf = (version) => version.slice(0, version.indexOf('.'));

/** Versions of other lines than the running one, which runs all tests. */
export const OTHER_NODES = SUPPORTED.filter((version) => majorOf(version) !== majorOf(process.versions.node));

/** The first version in `engines`. */
const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
export const OLDEST_NODE = /\d+\.\d+\.\d+/.exec(engines.node)?.[0] ?? '';

/**
 * Installs the binary of `version` below build/, once; returns its path. Rejects if npm cannot. Test files that run
 * side by side may call it at the same time: each installs into its own folder, and the first one's is renamed, so that
 * none runs a binary that is still being written ("Text file busy").
 */
export async function provideNode(version) {
  const folder = path.join(root, 'build/nodes', version);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = path.join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(path.dirname(folder), { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  // Tests also run it as other users.
  chmodSync(own, 0o755);
  try {
    const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
    await promisify(execFile)('npm', ['install', '--prefix', own, ...options, `${name}@${version}`]);
    renameSync(own, folder);
  } catch (error) {
    // rename() does not replace a folder that has files.
    if (!existsSync(binary)) throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
  return binary;
}
