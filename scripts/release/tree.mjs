// Lays out all of hostwire for machines without Node: the program, the addon, Node beside them, one entry and licenses.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { findDifferences } from '../engine.mjs';
import { sourcesOf } from '../sources.mjs';
import { findModules, layOutProgram } from './program.mjs';
import { provideRuntime, RUNTIME, runTool, strip } from './runtime.mjs';

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

export const { version: VERSION } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** Returns the time of the commit for all files, so that two runs from one commit make the same bytes. Unix seconds. */
export function sourceDate() {
  return Number(
    process.env.SOURCE_DATE_EPOCH ?? runTool('git', ['log', '-1', '--format=%ct'], { cwd: root }),
  );
}

/** Returns the addon for a machine: the prebuilt one, which runs on older systems, otherwise that of this machine. */
function findAddon(platform, arch) {
  const name = `${platform}-${arch}`;
  const prebuilt = path.join(root, 'prebuilds', name, 'hostwire.node');
  if (existsSync(prebuilt)) {
    const sources = ['CMakeLists.txt', ...sourcesOf('shared', platform === 'win32' ? 'windows' : platform)];
    const newest = Math.max(...sources.map((file) => statSync(path.join(root, file)).mtimeMs));
    if (statSync(prebuilt).mtimeMs >= newest) return prebuilt;
    throw new Error(`prebuilds/${name} is older than the sources: npm run prebuilds -- ${name}`);
  }
  if (platform === process.platform && arch === process.arch) return path.join(root, 'dist/hostwire.node');
  throw new Error(`no addon for it was built: npm run prebuilds -- ${name}`);
}

/** Returns the license of each part, by name: hostwire's own dependencies, bundled or not, and Node with its parts. */
export function thirdPartyLicenses(runtime) {
  const texts = [['What is bundled in dist/', readFileSync(path.join(root, 'dist/licenses.txt'), 'utf8')]];
  const web = path.join(root, 'dist/web/assets');
  for (const name of readdirSync(web).filter((each) => /^licenses-\w+\.txt$/.test(each)))
    texts.push(['What is bundled in dist/web/', readFileSync(path.join(web, name), 'utf8')]);
  for (const [folder, place] of findModules()) {
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    const { license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const text = file === undefined ? `License: ${license}\n` : readFileSync(path.join(folder, file), 'utf8');
    texts.push([place, text]);
  }
  texts.push([`Node.js ${RUNTIME.version}`, readFileSync(runtime.license, 'utf8')]);
  return texts.map(([name, text]) => `${'='.repeat(80)}\n${name}\n\n${text.trimEnd()}\n`).join('\n');
}

/** Sets modes that depend on no umask, and one time, for everything in `folder` and for itself. */
export function settleFiles(folder, seconds, isProgram) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) settleFiles(file, seconds, isProgram);
    if (entry.isFile()) chmodSync(file, isProgram(file) ? 0o755 : 0o644);
    lutimesSync(file, seconds, seconds);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, seconds, seconds);
}

/** The units of packaging/systemd. */
export const UNITS = ['system/hostwire.service', 'system/hostwire-hub.service', 'user/hostwire.service'];

/** Returns the shipped unit `file`, with `command` instead of the one for scripts/install.mjs; its arguments stay. */
export function unitFor(file, command) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const changed = text.replace(
    /^ExecStart=node \/opt\/hostwire\/dist\/main\.js(?= |$)/m,
    `ExecStart=${command}`,
  );
  if (changed === text) throw new Error(`${file} has no ExecStart to replace`);
  return changed;
}

/** The entry of each platform, in packaging/. */
const ENTRIES = { linux: 'bundle/hostwire', win32: 'windows/hostwire.cmd' };

/** Makes `target` anew: the entry, Node, dist/, node_modules/, package.json. Returns the runtime. */
export function layOutTree(target, arch, platform = 'linux') {
  const differences = findDifferences();
  if (differences.length > 0) throw new Error(`uWebSockets.js: ${differences.join('; ')}`);
  const addon = findAddon(platform, arch);
  const runtime = provideRuntime(root, platform, arch);
  layOutProgram(target, { platform, arch, abi: RUNTIME.abi }, true);
  for (const file of ['dist/hostwire.node', 'dist/win32-x64'])
    rmSync(path.join(target, file), { recursive: true, force: true });
  copyFileSync(addon, path.join(target, 'dist/hostwire.node'));
  // mingw-w64 has linked the one for Windows without them.
  if (platform === 'linux') strip(path.join(target, 'dist/hostwire.node'), arch);
  copyFileSync(runtime.node, path.join(target, path.basename(runtime.node)));
  const entry = path.join(root, 'packaging', ENTRIES[platform]);
  copyFileSync(entry, path.join(target, path.basename(entry)));
  // Neither scripts nor dependencies, because nothing is installed from here.
  const { name, version, license, type } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const facts = { name, version, license, type, private: true };
  writeFileSync(path.join(target, 'package.json'), `${JSON.stringify(facts, undefined, 2)}\n`);
  return runtime;
}
