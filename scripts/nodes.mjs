// The versions of Node that hostwire supports, as npm packages with their binaries.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** One of each line in `engines` of package.json. */
const SUPPORTED = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

const majorOf = (version) => version.slice(0, version.indexOf('.'));

/** Those of other lines than the running one, which runs all tests. */
export const OTHER_NODES = SUPPORTED.filter((version) => majorOf(version) !== majorOf(process.versions.node));

/** The first version in `engines`. */
const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
export const OLDEST_NODE = /\d+\.\d+\.\d+/.exec(engines.node)[0];

/** Installs the binary of `version` below build/, once; returns its path. Rejects where npm cannot. */
export async function provideNode(version) {
  const folder = path.join(root, 'build/nodes', version);
  const name = `node-${process.platform}-${process.arch}`;
  const binary = path.join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', '--prefix', folder, ...options, `${name}@${version}`]);
  return binary;
}
