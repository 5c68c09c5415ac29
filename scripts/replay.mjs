// Compiles the parsers with sanitizers and replays the fixtures and mutations of them:  node scripts/replay.mjs [ROUNDS]
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const rounds = process.argv[2] ?? '200';
const parsers = JSON.parse(readFileSync(path.join(root, 'native/sources.json'), 'utf8')).linux.filter(
  (file) => /\/(?:parse\w*|select_\w*|text)\.cc$/.test(file),
);
const sanitizers = 'address,undefined,float-cast-overflow,float-divide-by-zero';
const binary = path.join(root, 'build/replay');
mkdirSync(path.dirname(binary), { recursive: true });

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status !== 0) process.exit(1);
}

run('g++', [
  '-std=c++20',
  '-O1',
  '-g',
  `-fsanitize=${sanitizers}`,
  '-fno-sanitize-recover=all',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Inative',
  'native/fuzz/replay.cc',
  'native/fuzz/targets.cc',
  ...parsers,
  '-o',
  binary,
]);
run(binary, [rounds, 'test/fixtures/linux']);
