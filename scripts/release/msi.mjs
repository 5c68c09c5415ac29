// The installer for Windows, compiled by wixl (Debian: wixl) from packaging/windows/hostwire.wxs.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { runTool } from './runtime.mjs';
import { root, VERSION } from './tree.mjs';

/** Identifies every version of hostwire to Windows Installer, so it must never change. */
const UPGRADE = '{6B5C1E4F-3A0D-4F27-9E52-0C6D1B8A7E93}';

/** Returns a UUID of version 5 (RFC 9562), in the space of UPGRADE: the same name gives the same UUID. */
function uuidOf(name) {
  const space = Buffer.from(UPGRADE.replace(/[{}-]/g, ''), 'hex');
  const bytes = createHash('sha1').update(space).update(name).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x50;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const groups =
    /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(bytes.toString('hex').toUpperCase())?.slice(1) ?? [];
  return `{${groups.join('-')}}`;
}

/** Identifiers have letters, digits, "_" and "." only. */
const idOf = (kind, file) => `${kind}${createHash('sha1').update(file).digest('hex').slice(0, 16)}`;

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** One component per folder with files, because Windows Installer removes and repairs them together. */
function describeFolder(tree, folder, components) {
  const entries = readdirSync(path.join(tree, folder), { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines = [];
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => path.posix.join(folder, name));
  if (files.length > 0) {
    const id = idOf('c', folder);
    components.push(id);
    lines.push(`<Component Id="${id}" Guid="${uuidOf(`component ${folder}`)}" Win64="yes">`);
    for (const [index, file] of files.entries()) {
      const key = index === 0 ? ' KeyPath="yes"' : '';
      const place = `Name="${escapeXml(path.basename(file))}" Source="${escapeXml(file)}"`;
      lines.push(`<File Id="${idOf('f', file)}" ${place} DiskId="1"${key} />`);
    }
    lines.push('</Component>');
  }
  for (const entry of entries.filter((each) => each.isDirectory())) {
    const inner = path.posix.join(folder, entry.name);
    lines.push(`<Directory Id="${idOf('d', inner)}" Name="${escapeXml(entry.name)}">`);
    lines.push(...describeFolder(tree, inner, components), '</Directory>');
  }
  return lines;
}

/**
 * Positions of actions that wixl 0.101 does not place: it orders custom actions by addresses in memory, so that no two
 * runs are equal. `?`: the state of the component before, `$`: after; 2 is absent, 3 is installed.
 */
const ACTIONS = [
  // After InstallInitialize: later the removed version would unregister the service of the new one.
  ['RemoveExistingProducts', 1501],
  ['RemoveService', 1901, '?Service=3 AND $Service=2'],
  ['RemoveEnvironmentStrings', 3300],
  // After InstallFiles; undone only where it succeeded: it fails where another hostwire is the service.
  ['AddService', 4001, '$Service=3 AND NOT ?Service=3'],
  ['UndoService', 4002, '$Service=3 AND NOT ?Service=3'],
  ['WriteEnvironmentStrings', 5200],
];

/** Edits that wixl cannot express: those, PATH, and an action that only a failed installation runs. */
const EDITS = [
  'CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE, ' +
    '`Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)',
  // "=": written, "-": removed again, "*": for all users; "[~]": the existing value.
  'INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`) ' +
    "VALUES ('Path', '=-*PATH', '[~];[INSTALLDIR]', 'Path')",
  ...ACTIONS.map(
    ([name, sequence, condition = '']) =>
      'INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`) ' +
      `VALUES ('${name}', '${condition}', ${sequence})`,
  ),
  // A program of the package (18), deferred (1024), for rollback (256), as the system (2048), whatever it returns (64).
  "UPDATE `CustomAction` SET `Type` = 3410 WHERE `Action` = 'UndoService'",
];

/** The property set "summary information" ([MS-OLEPS]): when it was created (12) and saved (13). */
const SUMMARY = Buffer.from('e0859ff2f94f6810ab9108002b27b3d9', 'hex');
const TIMES = [12, 13];
const VT_FILETIME = 0x40;
/** Seconds between the epochs of Windows and of Unix. */
const EPOCHS = 11_644_473_600;

/** Replaces the current time, which wixl writes. */
function setTimes(file, seconds) {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(SUMMARY);
  // The stream begins 28 bytes before, and counts its offsets from there.
  const section = at - 28 + bytes.readUInt32LE(at + 16);
  let found = 0;
  for (let i = 0; i < bytes.readUInt32LE(section + 4); i++) {
    const property = section + 8 + 8 * i;
    const value = section + bytes.readUInt32LE(property + 4);
    if (!TIMES.includes(bytes.readUInt32LE(property)) || bytes.readUInt32LE(value) !== VT_FILETIME) continue;
    bytes.writeBigUInt64LE(BigInt(seconds + EPOCHS) * 10_000_000n, value + 4);
    found++;
  }
  if (at < 0 || found !== TIMES.length) throw new Error(`${file} has ${found} times, not ${TIMES.length}`);
  writeFileSync(file, bytes);
}

function describeProduct(tree, commit) {
  const components = [];
  const files = describeFolder(tree, '', components);
  return {
    PRODUCT: uuidOf(`product ${VERSION} ${commit}`),
    UPGRADE,
    PATH: uuidOf('component PATH'),
    SERVICE: uuidOf('component service'),
    VERSION: VERSION.replace(/-.*/, ''),
    FULL_VERSION: VERSION,
    NODE: idOf('f', 'node.exe'),
    FILES: files.join('\n'),
    COMPONENTS: components.map((id) => `<ComponentRef Id="${id}" />`).join('\n'),
  };
}

/** Compiles `target` from the files in `tree`; `commit` and the version make one product of it. */
export function makeInstaller(tree, target, { commit, seconds }) {
  const words = describeProduct(tree, commit);
  const template = readFileSync(path.join(root, 'packaging/windows/hostwire.wxs'), 'utf8');
  const source = `${target}.wxs`;
  writeFileSync(
    source,
    template.replace(/@([A-Z_]+)@/g, (_, name) => words[name]),
  );
  // In the tree, because wixl takes no absolute paths of files. The times in the cabinet are local ones.
  const options = { cwd: tree, env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' } };
  runTool('wixl', ['-a', 'x64', '-o', target, source], options);
  rmSync(source);
  for (const query of EDITS) runTool('msibuild', [target, '-q', query], options);
  const summary = ['Installation Database', 'The hostwire authors', 'x64;1033'];
  runTool('msibuild', [target, '-s', ...summary, uuidOf(`package ${VERSION} ${commit}`)], options);
  setTimes(target, seconds);
}
