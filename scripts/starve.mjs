// Reads fixture machines under sanitizers while one allocation after the other fails:
//   node scripts/starve.mjs [--every]   (every allocation; by default the first 24, then fewer and fewer)
// `node scripts/build.mjs programs sanitized` builds the program.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { MACHINES as CAPTURES } from './fixtures.mjs';
import { FIXTURES, root, run } from './parsers.mjs';

/** One machine with sensors, a battery and mounts, one with GPUs of two kinds. */
const MACHINES = ['laptop', 'gpu-hybrid'];
const SPARSE = process.argv.includes('--every') ? 0 : 24;
const work = path.join(root, 'build/starve');
const programs = path.join(root, 'build/native');

/** Lays out the machine `name` in `folder`, as it was at its first reading. */
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
