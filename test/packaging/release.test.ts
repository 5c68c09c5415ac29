/** The bill of materials of a release, the refusal to publish, and builds without the tools that they need. */
import '../helpers/service/dead-buses.ts';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import t, { type Test } from 'tap';
import { emptyFolder } from '../helpers/scope.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope: string;
  readonly licenses: readonly object[];
}

interface Bom {
  readonly bomFormat: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
  readonly components: readonly Component[];
}

t.test('without --dry-run it refuses', async (t) => {
  const script = path.join(ROOT, 'scripts/release/release.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  t.strictSame([status, stdout], [1, '']);
  t.match(stderr, /^cannot make a release: nothing is published from here: --dry-run makes .*\n$/);
});

t.test('the bill of materials has all that is shipped, and nothing else', async (t) => {
  const { describeContents } = (await import(path.join(ROOT, 'scripts/release/sbom.mjs'))) as {
    readonly describeContents: (commit: string, seconds: number) => string;
  };
  const text = describeContents('a commit', 1_790_000_000);
  t.equal(describeContents('a commit', 1_790_000_000), text, 'the same twice');
  const bom = JSON.parse(text) as Bom; // From npm; the next lines check its format.
  t.match(bom, { bomFormat: 'CycloneDX', specVersion: '1.5', metadata: { component: { name: 'hostwire' } } });
  t.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(bom.metadata.timestamp, '2026-09-21T14:13:20.000Z');
  const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const names = bom.components.map(({ name }) => name);
  for (const name of [...Object.keys(dependencies), 'valibot', 'mqtt', 'preact', 'uplot', 'node'])
    t.ok(names.includes(name), name);
  t.notOk(names.includes('typescript') || names.includes('esbuild'), 'not what only builds it');
  for (const { name, version, purl, scope, licenses } of bom.components) {
    t.match(purl, new RegExp(`^pkg:(?:npm|generic)/.*@${version}$`), name);
    t.equal(scope, 'required', name);
    t.ok(licenses.length > 0, name);
  }
  // Each that is bundled has its license in the program, under the name of its folder.
  const texts = readFileSync(path.join(ROOT, 'dist/licenses.txt'), 'utf8');
  for (const name of texts.match(/(?<=\n\n)@?[\w./-]+(?=\n\n)/g) ?? [])
    t.ok(names.includes(name.replace(/.*\/node_modules\//, '')), name);
});

t.test('a bundle names the glibc that its binaries need', async (t) => {
  const { requirementOf } = (await import(path.join(ROOT, 'scripts/release/libraries.mjs'))) as {
    readonly requirementOf: (files: readonly string[]) => {
      readonly text: string;
      readonly isForOldest: boolean;
    };
  };
  t.strictSame(requirementOf([]), {
    text: 'glibc 2.31 or later and libstdc++ (Debian 11, Ubuntu 20.04, RHEL 9 and later)',
    isForOldest: true,
  });
  // The addon of this machine, which may need more.
  const { text, isForOldest } = requirementOf([path.join(ROOT, 'dist/hostwire.node')]);
  const wanted = isForOldest
    ? /^glibc 2\.31 /
    : /^glibc 2\.(?:3[2-9]|[4-9]\d) or later and libstdc\+\+ of GCC \d+ or later$/;
  t.match(text, wanted);
  t.match(readFileSync(path.join(ROOT, 'packaging/bundle/README.txt'), 'utf8'), /^@NEEDS@\.$/m);
});

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
