// Makes build/release/hostwire_VERSION_ARCH.deb with the same files as the bundle, as docs/installing.md explains.
//   node scripts/release/debian.mjs [--arch x64|arm64] [--revision N]   (this machine's by default; build first)
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { layOutDocs } from './docs.mjs';
import { dependenciesOf, OLDEST_GLIBC } from './libraries.mjs';
import { runTool } from './runtime.mjs';
import {
  layOutTree,
  root,
  settleFiles,
  sourceDate,
  thirdPartyLicenses,
  UNITS,
  unitFor,
  VERSION,
} from './tree.mjs';

const PROGRAM = '/usr/lib/hostwire';
/** Without the shell of the launcher. */
const COMMAND = `${PROGRAM}/node ${PROGRAM}/dist/main.js`;
const DOCUMENTS = '/usr/share/doc/hostwire';
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };

/**
 * Only files that decide about rights are conffiles: an administrator who changes or removes one keeps it so. postinst copies
 * the configuration at the first installation.
 */
const FILES = {
  '/etc/polkit-1/rules.d/50-hostwire.rules': 'packaging/polkit/50-hostwire.rules',
  '/usr/lib/sysusers.d/hostwire.conf': 'packaging/sysusers/hostwire.conf',
  '/usr/lib/tmpfiles.d/hostwire.conf': 'packaging/tmpfiles/hostwire.conf',
  '/usr/share/hostwire/config.yaml': 'packaging/config.yaml',
  // Not in /usr/lib/udev: a program that may open this device can type into every session.
  '/usr/share/hostwire/60-hostwire-uinput.rules': 'packaging/udev/60-hostwire-uinput.rules',
  '/usr/share/lintian/overrides/hostwire': 'packaging/debian/lintian-overrides',
  [`${DOCUMENTS}/README.Debian`]: 'packaging/debian/README.Debian',
  [`${DOCUMENTS}/examples/config.example.json`]: 'config.example.json',
  [`${DOCUMENTS}/examples/config.example.yaml`]: 'config.example.yaml',
  [`${DOCUMENTS}/examples/hub.example.yaml`]: 'hub.example.yaml',
};

const read = (file) => readFileSync(path.join(root, file), 'utf8');

/** Returns all files below `folder`, without links. */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();

/** "0.1.0-alpha" precedes "0.1.0", which dpkg expresses with "~". */
const versionOf = (revision) => `${VERSION.replace('-', '~')}-${revision}`;

function changelog(version, seconds) {
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  const lines = [
    `hostwire (${version}) unstable; urgency=medium`,
    '  * The changes are in changelog.gz.',
    ` -- The hostwire authors <hostwire@hostwire.invalid>  ${date}`,
  ];
  return `${lines.join('\n\n')}\n`;
}

function write(folder, file, content) {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), content);
}

/** Lays out all files of the package. Returns those that are programs. */
function layOut(folder, arch, version, seconds) {
  const program = path.join(folder, PROGRAM);
  const runtime = layOutTree(program, arch);
  mkdirSync(path.join(folder, 'usr/bin'));
  symlinkSync('../lib/hostwire/hostwire', path.join(folder, 'usr/bin/hostwire'));
  for (const unit of UNITS)
    write(folder, `/usr/lib/systemd/${unit}`, unitFor(`packaging/systemd/${unit}`, COMMAND));
  for (const [target, file] of Object.entries(FILES)) write(folder, target, read(file));
  layOutDocs(path.join(folder, DOCUMENTS));
  const page = gzipSync(read('dist/share/man/man1/hostwire.1'), { level: 9 });
  write(folder, '/usr/share/man/man1/hostwire.1.gz', page);
  // It is installed where man(1) looks for it, not beside the program.
  rmSync(path.join(program, 'dist/share'), { recursive: true });
  const licenses = `hostwire\n\n${read('LICENSE')}\nThe package includes:\n\n${thirdPartyLicenses(runtime)}`;
  write(folder, `${DOCUMENTS}/copyright`, licenses);
  write(folder, `${DOCUMENTS}/changelog.gz`, gzipSync(read('CHANGELOG.md'), { level: 9 }));
  write(folder, `${DOCUMENTS}/changelog.Debian.gz`, gzipSync(changelog(version, seconds), { level: 9 }));
  return ['hostwire', 'node'].map((name) => path.join(program, name));
}

/** Writes the files of the control archive. `binaries`: files that depend on the system's libraries. */
function writeControl(folder, { arch, version, binaries }) {
  const control = path.join(folder, 'DEBIAN');
  mkdirSync(control);
  const installed = filesIn(folder);
  const { depends, isForOldest } = dependenciesOf(binaries);
  if (!isForOldest)
    console.error(`note: this package needs ${depends}; glibc ${OLDEST_GLIBC} takes a prebuilt addon`);
  const facts = {
    VERSION: version,
    ARCHITECTURE: ARCHITECTURES[arch],
    INSTALLED_SIZE: installed.reduce((sum, file) => sum + Math.ceil(statSync(file).size / 1024), 0),
    DEPENDS: depends,
  };
  const text = read('packaging/debian/control').replace(/@(\w+)@/g, (_, name) => facts[name]);
  writeFileSync(path.join(control, 'control'), text);
  const digests = installed.map((file) => {
    const digest = createHash('md5').update(readFileSync(file)).digest('hex');
    return `${digest}  ${path.relative(folder, file)}\n`;
  });
  writeFileSync(path.join(control, 'md5sums'), digests.join(''));
  const conffiles = Object.keys(FILES).filter((file) => file.startsWith('/etc/'));
  writeFileSync(path.join(control, 'conffiles'), conffiles.map((file) => `${file}\n`).join(''));
  const scripts = ['postinst', 'prerm', 'postrm'];
  for (const name of scripts)
    copyFileSync(path.join(root, 'packaging/debian', name), path.join(control, name));
  return scripts.map((name) => path.join(control, name));
}

export function makePackage(arch, output, revision) {
  const seconds = sourceDate();
  const version = versionOf(revision);
  const name = `hostwire_${version}_${ARCHITECTURES[arch]}`;
  const folder = path.join(output, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const programs = layOut(folder, arch, version, seconds);
  const binaries = filesIn(path.join(folder, PROGRAM)).filter((file) => /\.node$|\/node$/.test(file));
  const scripts = writeControl(folder, { arch, version, binaries });
  settleFiles(folder, seconds, (file) => programs.includes(file) || scripts.includes(file));
  const options = ['--root-owner-group', '--uniform-compression', '-Zxz', '-z6'];
  runTool('dpkg-deb', [...options, '--build', folder, `${folder}.deb`], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds) },
  });
  rmSync(folder, { recursive: true });
  return `${folder}.deb`;
}

try {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch },
      output: { type: 'string', default: path.join(root, 'build/release') },
      revision: { type: 'string', default: '1' },
    },
  });
  const file = makePackage(values.arch, values.output, values.revision);
  console.log(`${file} (${(statSync(file).size / 1e6).toFixed(1)} MB)`);
} catch (error) {
  console.error(`cannot make the package: ${error.message}`);
  process.exitCode = 1;
}
