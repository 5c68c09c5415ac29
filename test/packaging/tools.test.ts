/** Without the tools of a build, it and scripts/install.mjs end with one sentence that names the packages. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import '../helpers/service/dead-buses.ts';
import { emptyFolder } from '../helpers/scope.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** The environment of a machine that has only these commands, each of which succeeds and does nothing. */
function machineWith(t: Test, ...commands: readonly string[]): NodeJS.ProcessEnv {
  const folder = emptyFolder(t, 'tools');
  for (const command of commands) {
    writeFileSync(path.join(folder, command), '#!/bin/sh\n');
    chmodSync(path.join(folder, command), 0o755);
  }
  return { PATH: folder };
}

function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const sentence = (titles: string, packages: string) =>
  `the addon cannot be built without ${titles}: install it with "apt-get install ${packages}" (Debian)`;

const CASES = [
  { has: ['cmake', 'make'], titles: 'a C++ compiler (g++ or clang++)', packages: 'g++' },
  { has: ['cmake', 'clang++'], titles: 'make', packages: 'make' },
  { has: ['make', 'python3'], titles: 'a C++ compiler (g++)', packages: 'g++' },
  { has: ['g++', 'python3'], titles: 'make', packages: 'make' },
  { has: ['g++', 'make'], titles: 'python3', packages: 'python3' },
  { has: [], titles: 'a C++ compiler (g++), make, and python3', packages: 'g++ make python3' },
];

for (const { has, titles, packages } of CASES)
  t.test(`[9.build-tools] a build with only ${has.join(', ') || 'nothing'}`, async (t) => {
    t.strictSame(run(path.join(ROOT, 'scripts/build.mjs'), ['addon'], machineWith(t, ...has)), {
      status: 1,
      stdout: '',
      stderr: `${sentence(titles, packages)}\n`,
    });
  });

t.test('[9.build-tools] with the tools nothing is missing', async (t) => {
  const tools = JSON.stringify(path.join(ROOT, 'scripts/tools.mjs'));
  const file = path.join(t.testdir(), 'missing.mjs');
  writeFileSync(file, `import { missingTools } from ${tools};\nconsole.log(missingTools());\n`);
  for (const [has, variables] of [
    [['cmake', 'g++', 'make'], {}],
    [['cmake', 'clang++', 'ninja'], {}],
    [['g++', 'make', 'python3'], {}],
    [['make', 'python3'], { CXX: 'clang++' }],
  ] as const)
    t.strictSame(run(file, [], { ...machineWith(t, ...has), ...variables }), {
      status: 0,
      stdout: 'undefined\n',
      stderr: '',
    });
});

t.test('[9.build-tools] install.mjs where nothing is built', async (t) => {
  const folder = t.testdir();
  cpSync(path.join(ROOT, 'scripts'), path.join(folder, 'scripts'), { recursive: true });
  const install = (env: NodeJS.ProcessEnv, ...args: readonly string[]) =>
    run(path.join(folder, 'scripts/install.mjs'), ['--destdir', path.join(folder, 'root'), ...args], env);
  const failed = (text: string) => ({ status: 1, stdout: '', stderr: `cannot install: ${text}\n` });
  t.strictSame(install(machineWith(t, 'make', 'python3')), failed(sentence('a C++ compiler (g++)', 'g++')));
  t.strictSame(
    install(machineWith(t, 'make', 'python3', 'g++')),
    failed('dist/main.js is missing: build first (npm ci && npm run build)'),
  );
  t.match(install({}, '--what'), { status: 1, stderr: /^cannot install: Unknown option '--what'.*\n$/ });
});
