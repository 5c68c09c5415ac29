// Lays out the files of the container image below a folder: node packaging/container/lay-out.mjs FOLDER
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {
  layOutTree,
  root,
  settleFiles,
  sourceDate,
  thirdPartyLicenses,
} from '../../scripts/release/tree.mjs';

const target = process.argv[2] ?? 'build/container';
const program = path.join(target, 'opt/hostwire');
const runtime = layOutTree(program, process.arch);
writeFileSync(path.join(program, 'licenses.txt'), thirdPartyLicenses(runtime));
copyFileSync(path.join(root, 'LICENSE'), path.join(program, 'LICENSE'));
copyFileSync(path.join(root, 'packaging/container/health.mjs'), path.join(program, 'health.mjs'));
// A volume at /etc/hostwire begins with the first. The second is read where a mount there has no configuration, because without
// any the service would be open. Dockerfile sets the search.
for (const folder of [path.join(target, 'etc/hostwire'), program]) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(path.join(root, 'packaging/config.yaml'), path.join(folder, 'config.yaml'));
}
mkdirSync(path.join(target, 'usr/local/bin'), { recursive: true });
symlinkSync('../../../opt/hostwire/hostwire', path.join(target, 'usr/local/bin/hostwire'));
// The mark that systemd has container managers write: Docker and Podman leave other marks, Kubernetes none.
mkdirSync(path.join(target, 'run/systemd'), { recursive: true });
writeFileSync(path.join(target, 'run/systemd/container'), 'oci\n');
const programs = [path.join(program, 'hostwire'), path.join(program, 'node')];
settleFiles(target, sourceDate(), (file) => programs.includes(file));
