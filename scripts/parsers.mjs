// The list of parser sources, and helpers for the scripts that fuzz, replay and starve them.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { unpackAll } from './fixtures.mjs';
import { sourcesOf } from './sources.mjs';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** The kept inputs that fuzzing has found: one folder per target. */
export const CORPUS = 'native/fuzz/corpus';
/** The unpacked machines of the tests. */
export const FIXTURES = unpackAll();
/** The parsers of every platform: they are pure, and run on each. */
export const PARSERS = sourcesOf('shared', 'linux', 'windows').filter((file) =>
  /\/(?:parse\w*|select_\w*|kernel\/text|host\/exposition)\.cc$/.test(file),
);

/** Runs a command to its end; with `isQuiet` returns its output instead of printing it. A failure ends this process. */
export function run(command, args, { isQuiet = false } = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', isQuiet ? 'pipe' : 'inherit', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (result.status !== 0) {
    console.error(`failed: ${command} ${args.join(' ').slice(0, 200)}`);
    process.exit(1);
  }
  return result.stdout ?? '';
}
