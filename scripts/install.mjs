// Installs the built service and the files of packaging/ on a Linux machine with systemd, as docs/operating.md explains.
// It starts and enables nothing.   node scripts/install.mjs [--destdir DIR] [--media-keys] [--remove]
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { EXTERNAL } from './bundle.mjs';
import { missingTools } from './tools.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PROGRAM = '/opt/hostwire';

/** The files of packaging/, and the folders for an administrator's own files of each kind. */
const FILES = {
  'packaging/systemd/system/hostwire.service': '/etc/systemd/system/hostwire.service',
  'packaging/systemd/user/hostwire.service': '/etc/systemd/user/hostwire.service',
  'packaging/polkit/50-hostwire.rules': '/etc/polkit-1/rules.d/50-hostwire.rules',
  'packaging/sysusers/hostwire.conf': '/etc/sysusers.d/hostwire.conf',
  'packaging/tmpfiles/hostwire.conf': '/etc/tmpfiles.d/hostwire.conf',
};
const MEDIA_KEYS = {
  'packaging/udev/60-hostwire-uinput.rules': '/etc/udev/rules.d/60-hostwire-uinput.rules',
};

/** The folders below node_modules that the service needs to run: what is not in its bundle, and what that depends on. */
function findModules() {
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

/** What is for browsers (1.5 MB of mqtt) or for compilers (2.9 MB). */
const UNUSED = /\/node_modules\/(?:mqtt\/dist|@types)(?:\/|$)/;

/** uWebSockets.js ships binaries for every platform, 130 MB in all: only those of this platform are copied. */
function isWanted(file) {
  if (UNUSED.test(file)) return false;
  const binary = /\/uws_(\w+?)_(\w+?)_\d+\.node$/.exec(file);
  return binary === null || (binary[1] === process.platform && binary[2] === process.arch);
}

function installProgram(target) {
  for (const needed of ['dist/main.js', 'dist/hostwire.node'])
    if (!existsSync(path.join(root, needed)))
      throw new Error(missingTools() ?? `${needed} is missing: build first (npm ci && npm run build)`);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  cpSync(path.join(root, 'dist'), path.join(target, 'dist'), { recursive: true, dereference: true });
  copyFileSync(path.join(root, 'package.json'), path.join(target, 'package.json'));
  for (const [folder, place] of findModules())
    cpSync(folder, path.join(target, place), { recursive: true, dereference: true, filter: isWanted });
}

function main() {
  const { values } = parseArgs({
    options: {
      destdir: { type: 'string', default: '/' },
      'media-keys': { type: 'boolean', default: false },
      remove: { type: 'boolean', default: false },
    },
  });
  // Another user must be able to read the installed files.
  process.umask(0o022);
  const below = (file) => path.join(values.destdir, file);
  if (values.remove) {
    rmSync(below(PROGRAM), { recursive: true, force: true });
    for (const target of Object.values({ ...FILES, ...MEDIA_KEYS })) rmSync(below(target), { force: true });
    console.log('removed; /etc/hostwire and the user hostwire are kept. Now run `systemctl daemon-reload`');
    return;
  }
  installProgram(below(PROGRAM));
  const files = values['media-keys'] ? { ...FILES, ...MEDIA_KEYS } : FILES;
  for (const [source, target] of Object.entries(files)) {
    mkdirSync(path.dirname(below(target)), { recursive: true });
    copyFileSync(path.join(root, source), below(target));
  }
  console.log(`installed: ${PROGRAM}, ${Object.values(files).join(', ')}`);
  console.log('  a desktop:  systemctl --user daemon-reload && systemctl --user enable --now hostwire');
  console.log('  a server:   systemd-sysusers && systemd-tmpfiles --create hostwire.conf');
  console.log('              systemctl daemon-reload && systemctl enable --now hostwire');
}

try {
  main();
} catch (error) {
  // An argument that is unknown, nothing built, or a folder that only root may write: no stack is needed for these.
  console.error(`cannot install: ${error.message}`);
  process.exitCode = 1;
}
