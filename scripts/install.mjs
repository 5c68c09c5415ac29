// Installs the built service and the files of packaging/ on a Linux machine with systemd, as docs/operating.md explains.
// It starts and enables nothing.   node scripts/install.mjs [--destdir DIR] [--media-keys] [--remove]
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { layOutProgram } from './release/program.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const PROGRAM = '/opt/hostwire';

/** The files of packaging/, and the folders for an administrator's own files of each kind. */
const FILES = {
  'packaging/systemd/system/hostwire.service': '/etc/systemd/system/hostwire.service',
  'packaging/systemd/system/hostwire-hub.service': '/etc/systemd/system/hostwire-hub.service',
  'packaging/systemd/user/hostwire.service': '/etc/systemd/user/hostwire.service',
  'packaging/polkit/50-hostwire.rules': '/etc/polkit-1/rules.d/50-hostwire.rules',
  'packaging/sysusers/hostwire.conf': '/etc/sysusers.d/hostwire.conf',
  'packaging/tmpfiles/hostwire.conf': '/etc/tmpfiles.d/hostwire.conf',
};
const MEDIA_KEYS = {
  'packaging/udev/60-hostwire-uinput.rules': '/etc/udev/rules.d/60-hostwire-uinput.rules',
};

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
  layOutProgram(below(PROGRAM), process);
  const files = values['media-keys'] ? { ...FILES, ...MEDIA_KEYS } : FILES;
  for (const [source, target] of Object.entries(files)) {
    mkdirSync(path.dirname(below(target)), { recursive: true });
    copyFileSync(path.join(root, source), below(target));
  }
  console.log(`installed: ${PROGRAM}, ${Object.values(files).join(', ')}`);
  console.log('  a desktop:  systemctl --user daemon-reload && systemctl --user enable --now hostwire');
  console.log('  a server:   systemd-sysusers && systemd-tmpfiles --create hostwire.conf');
  console.log('              systemctl daemon-reload && systemctl enable --now hostwire');
  console.log('  a hub:      the same with hostwire-hub, once /etc/hostwire/hub.yaml is there');
}

try {
  main();
} catch (error) {
  // An unknown argument, a missing build, or a folder that only root may write: the stack would not help.
  console.error(`cannot install: ${error.message}`);
  process.exitCode = 1;
}
