// Makes build/release/hostwire-VERSION-linux-ARCH.tar.xz: unpack and run, without Node.
//   node scripts/release/bundle.mjs [--arch x64|arm64]   (this machine's by default; build first)
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { layOutDocs } from './docs.mjs';
import { OLDEST_GLIBC, requirementOf } from './libraries.mjs';
import { runTool } from './runtime.mjs';
import { layOutTree, root, settleFiles, sourceDate, thirdPartyLicenses, unitFor, VERSION } from './tree.mjs';

/** The units, by their names in the bundle. */
const UNIT_NAMES = {
  'system.service': 'system/hostwire.service',
  'user.service': 'user/hostwire.service',
  'hub.service': 'system/hostwire-hub.service',
};
/** The files of packaging/ that a service needs, by their name in the bundle. */
const SERVICE_FILES = {
  'config.yaml': 'packaging/config.yaml',
  '50-hostwire.rules': 'packaging/polkit/50-hostwire.rules',
  'sysusers.conf': 'packaging/sysusers/hostwire.conf',
  'tmpfiles.conf': 'packaging/tmpfiles/hostwire.conf',
  '60-hostwire-uinput.rules': 'packaging/udev/60-hostwire-uinput.rules',
};
/** Documents beside the program. */
const DOCUMENTS = {
  LICENSE: 'LICENSE',
  'CHANGELOG.md': 'CHANGELOG.md',
  'config.example.json': 'config.example.json',
  'config.example.yaml': 'config.example.yaml',
  'hub.example.yaml': 'hub.example.yaml',
};

function layOut(target, arch, seconds) {
  const runtime = layOutTree(target, arch);
  writeFileSync(path.join(target, 'licenses.txt'), thirdPartyLicenses(runtime));
  const service = path.join(target, 'linux');
  mkdirSync(service);
  for (const [name, unit] of Object.entries(UNIT_NAMES))
    writeFileSync(path.join(service, name), unitFor(`packaging/systemd/${unit}`, '/opt/hostwire/hostwire'));
  for (const [name, file] of Object.entries(SERVICE_FILES))
    copyFileSync(path.join(root, file), path.join(service, name));
  for (const [name, file] of Object.entries(DOCUMENTS))
    copyFileSync(path.join(root, file), path.join(target, name));
  writeReadme(target);
  layOutDocs(target);
  const programs = [path.join(target, 'hostwire'), path.join(target, 'node')];
  settleFiles(target, seconds, (file) => programs.includes(file));
}

/**
 * Writes README.txt, with the requirements of the binaries of this bundle: an addon that was built here may need more
 * than a prebuilt one.
 */
function writeReadme(target) {
  const binaries = readdirSync(target, { recursive: true, encoding: 'utf8' })
    .filter((name) => name === 'node' || name.endsWith('.node'))
    .map((name) => path.join(target, name));
  const { text, isForOldest } = requirementOf(binaries);
  if (!isForOldest)
    console.error(`note: this bundle needs ${text}; glibc ${OLDEST_GLIBC} takes a prebuilt addon`);
  const readme = readFileSync(path.join(root, 'packaging/bundle/README.txt'), 'utf8');
  writeFileSync(path.join(target, 'README.txt'), readme.replace('@NEEDS@', text));
}

/**
 * Two threads of xz make the same blocks as any other number above one; level 6 because level 9 saves 1 % and takes 700
 * MB of memory. gzip would take half as much again.
 */
const COMPRESS = ['-6', '-T2', '-f'];

export function makeBundle(arch, output) {
  const seconds = sourceDate();
  const name = `hostwire-${VERSION}-linux-${arch}`;
  mkdirSync(output, { recursive: true });
  const target = path.join(output, name);
  layOut(target, arch, seconds);
  const tarball = `${target}.tar`;
  const owner = ['--owner=root:0', '--group=root:0', '--numeric-owner'];
  const order = ['--sort=name', '--format=gnu', `--mtime=@${seconds}`];
  runTool('tar', ['-c', ...order, ...owner, '-C', output, '-f', tarball, name], {
    env: { ...process.env, LC_ALL: 'C' },
  });
  runTool('xz', [...COMPRESS, tarball]);
  rmSync(target, { recursive: true });
  return `${tarball}.xz`;
}

try {
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch },
      output: { type: 'string', default: path.join(root, 'build/release') },
    },
  });
  const file = makeBundle(values.arch, values.output);
  console.log(`${file} (${(statSync(file).size / 1e6).toFixed(1)} MB)`);
} catch (error) {
  console.error(`cannot make the bundle: ${error.message}`);
  process.exitCode = 1;
}
