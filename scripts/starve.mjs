// Reads fixture machines with memory that runs out, at one allocation after the other, under sanitizers:
//   node scripts/starve.mjs [--every]   (every allocation; else the first 24 and then ever fewer)
// The program is built by `node scripts/build.mjs programs sanitized`.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { MACHINES as CAPTURES } from './fixtures.mjs';
import { FIXTURES, root, run } from './parsers.mjs';

/** One with sensors, a battery and mounts, one with graphics processors of two kinds. */
const MACHINES = ['laptop', 'gpu-hybrid'];
const SPARSE = process.argv.includes('--every') ? 0 : 24;
const work = path.join(root, 'build/starve');
const programs = path.join(root, 'build/native');

/** The machine `name` as at its first reading, in a folder of its own. */
function layOut(name, folder) {
  const { links } = JSON.parse(readFileSync(path.join(CAPTURES, name, 'machine.json'), 'utf8'));
  cpSync(path.join(FIXTURES, name, 'before'), folder, { recursive: true });
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(path.dirname(path.join(folder, link)), { recursive: true });
    symlinkSync(target, path.join(folder, link));
  }
}

rmSync(work, { recursive: true, force: true });
for (const name of MACHINES) {
  const folder = path.join(work, name);
  layOut(name, folder);
  const library = path.join(folder, 'libnvidia-ml.so.1');
  cpSync(path.join(programs, 'plain/fake_nvml.so'), library);
  console.log(`${name}:`);
  run(path.join(programs, 'address/starved_readers'), [folder, String(SPARSE), library]);
}
