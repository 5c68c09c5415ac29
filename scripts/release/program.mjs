// Lays out the built program with the packages that it loads: for scripts/install.mjs, bundles and packages.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTERNAL } from '../bundle.mjs';
import { missingTools } from '../tools.mjs';

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

/**
 * Returns the folders below node_modules that the service needs: packages outside its bundle, and their dependencies.
 */
export function findModules() {
  const found = new Map();
  const visit = (name, from) => {
    let folder = path.join(from, 'node_modules', name);
    while (!existsSync(folder) && path.dirname(from) !== from) {
      from = path.dirname(from);
      folder = path.join(from, 'node_modules', name);
    }
    if (found.has(folder)) return;
    const { dependencies = {} } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    found.set(folder, path.relative(root, folder));
    for (const dependency of Object.keys(dependencies)) visit(dependency, folder);
  };
  for (const name of EXTERNAL) visit(name, root);
  return found;
}

/**
 * uWebSockets.js ships binaries for every platform, 130 MB in all. Without an `abi` those for every Node are
 * wanted.
 */
function isWantedBinary(file, { platform, arch, abi }) {
  const binary = /\/uws_(\w+?)_(\w+?)_(\d+)\.node$/.exec(file);
  if (binary === null) return true;
  return binary[1] === platform && binary[2] === arch && (abi === undefined || binary[3] === abi);
}

/** Files for developers only: source maps, types, sources, documentation. Licenses stay. */
const FOR_DEVELOPERS = /\.(?:map|d\.[cm]?ts|[cm]?ts|md|markdown|yml)$/i;
/** Folders of dist/ with hostwire/client and its types, which the service does not load. */
const CLIENT = ['client', 'wire'].map((name) => path.join(root, 'dist', name));

/**
 * Copies dist/, package.json and the packages to `target`, which is emptied. `machine` is the platform and
 * architecture, and with `abi` the one line of Node, that it is for; `isLean` omits files for developers only.
 */
export function layOutProgram(target, machine, isLean = false) {
  for (const needed of ['dist/main.js', 'dist/hostwire.node'])
    if (!existsSync(path.join(root, needed)))
      throw new Error(missingTools() ?? `${needed} is missing: build first (npm ci && npm run build)`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const isWanted = (file) =>
    isWantedBinary(file, machine) &&
    !(isLean && (CLIENT.includes(file) || (FOR_DEVELOPERS.test(file) && !/licen[cs]e/i.test(file))));
  const options = { recursive: true, dereference: true, filter: isWanted };
  cpSync(path.join(root, 'dist'), path.join(target, 'dist'), options);
  copyFileSync(path.join(root, 'package.json'), path.join(target, 'package.json'));
  for (const [folder, place] of findModules()) cpSync(folder, path.join(target, place), options);
}
