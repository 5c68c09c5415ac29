// Reads fixture machines with memory that runs out, at one allocation after the other, under sanitizers:
//   node scripts/starve.mjs [--every]   (every allocation; else the first 24 and then ever fewer)
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { FIXTURES, root, run, SANITIZERS } from './parsers.mjs';
import { sourcesOf } from './sources.mjs';

/** One with sensors, a battery and mounts, one with graphics processors of two kinds. */
const MACHINES = ['laptop', 'gpu-hybrid'];
const SPARSE = process.argv.includes('--every') ? 0 : 24;
/** What acts on the machine, and what speaks to a bus. */
const NOT_READERS = /\/(?:bus\/|command_thread|process\/launch|process\/control|sockets\/|media\/|power\/)/;

const work = path.join(root, 'build/starve');
// Compiling takes most of the time: optimised three times as long.
const flags = [
  '-std=c++20',
  '-g1',
  '-O0',
  `-fsanitize=${SANITIZERS}`,
  '-fno-sanitize-recover=all',
  '-Inative',
];

/** Compiles what has no object yet that is younger; two at a time. */
function build() {
  const sources = [
    ...sourcesOf('shared', 'linux').filter(
      (file) => !/\/(?:napi|addon)/.test(file) && !NOT_READERS.test(file),
    ),
    'native/fuzz/failing_new.cc',
    'test/native/starved_readers.cc',
  ];
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const objects = sources.map((file) => path.join(work, `${file.replaceAll('/', '-')}.o`));
  const jobs = sources.map((file, at) => `${file} -o ${objects[at]}`).join('\n');
  const warnings = ['-Wall', '-Wextra', '-Werror'];
  const compiled = spawnSync('xargs', ['-P', '2', '-L', '1', 'g++', ...flags, ...warnings, '-c'], {
    cwd: root,
    input: jobs,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  if (compiled.status !== 0) process.exit(1);
  const binary = path.join(work, 'starved_readers');
  run('g++', [...flags, ...objects, '-o', binary, '-pthread', '-ldl']);
  return binary;
}

/** The machine `name` as at its first reading, in a folder of its own. */
function layOut(name, folder) {
  const source = path.join(root, FIXTURES, name);
  const { links } = JSON.parse(readFileSync(path.join(source, 'machine.json'), 'utf8'));
  cpSync(path.join(source, 'before'), folder, { recursive: true });
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(path.dirname(path.join(folder, link)), { recursive: true });
    symlinkSync(target, path.join(folder, link));
  }
}

const binary = build();
const nvml = path.join(work, 'libnvidia-ml.so.1');
run('gcc', ['-std=gnu17', '-O1', '-shared', '-fPIC', '-o', nvml, 'test/native/fake_nvml.c', '-ldl']);
for (const name of MACHINES) {
  const folder = path.join(work, name);
  layOut(name, folder);
  const library = path.join(folder, path.basename(nvml));
  cpSync(nvml, library);
  console.log(`${name}:`);
  run(binary, [folder, String(SPARSE), library]);
}
