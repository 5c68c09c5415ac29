// Makes build/release/hostwire-VERSION-win-x64.zip, and .msi from the same files, on Linux.
//   node scripts/release/windows.mjs [--output FOLDER]   (after npm run prebuilds -- win32-x64)
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { describeCommit } from '../commit.mjs';
import { layOutDocs } from './docs.mjs';
import { makeInstaller } from './msi.mjs';
import { runTool } from './runtime.mjs';
import { layOutTree, root, settleFiles, sourceDate, thirdPartyLicenses, VERSION } from './tree.mjs';

const DOCUMENTS = {
  'README.txt': 'packaging/windows/README.txt',
  'windows.md': 'packaging/windows.md',
  'LICENSE.txt': 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  'config.example.json': 'config.example.json',
  'config.example.yaml': 'config.example.yaml',
  'hub.example.yaml': 'hub.example.yaml',
};

/** Converts to "\r\n", which cmd.exe and the editors of older systems require. */
const toWindows = (text) => text.replace(/\r?\n/g, '\r\n');

function layOut(target, seconds) {
  const runtime = layOutTree(target, 'x64', 'win32');
  // The manual page.
  rmSync(path.join(target, 'dist/share'), { recursive: true });
  for (const [name, file] of Object.entries(DOCUMENTS))
    copyFileSync(path.join(root, file), path.join(target, name));
  writeFileSync(path.join(target, 'licenses.txt'), thirdPartyLicenses(runtime));
  layOutDocs(target);
  for (const name of readdirSync(target).filter((each) => /\.(?:cmd|txt|md|json|yaml)$/.test(each)))
    writeFileSync(path.join(target, name), toWindows(readFileSync(path.join(target, name), 'utf8')));
  settleFiles(target, seconds, () => false);
}

/** Omits the fields that depend on this machine's users and clock (-X); names are in one order. */
function makeArchive(folder, name) {
  const names = readdirSync(path.join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
  const target = path.join(folder, `${name}.zip`);
  rmSync(target, { force: true });
  runTool('zip', ['-q', '-X', '-9', '-@', target], {
    cwd: folder,
    input: names.join('\n'),
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
  });
  return target;
}

export function makeForWindows(output) {
  const seconds = sourceDate();
  const name = `hostwire-${VERSION}-win-x64`;
  mkdirSync(output, { recursive: true });
  const tree = path.join(output, name);
  layOut(tree, seconds);
  const archive = makeArchive(output, name);
  const installer = `${tree}.msi`;
  makeInstaller(tree, installer, { commit: describeCommit(), seconds });
  rmSync(tree, { recursive: true });
  return [archive, installer];
}

try {
  const { values } = parseArgs({
    options: { output: { type: 'string', default: path.join(root, 'build/release') } },
  });
  for (const file of makeForWindows(path.resolve(values.output)))
    console.log(`${file} (${(statSync(file).size / 1e6).toFixed(1)} MB)`);
} catch (error) {
  console.error(`cannot make the files for Windows: ${error.message}`);
  process.exitCode = 1;
}
