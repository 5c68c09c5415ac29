/** Runs the scripts that make what is released. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** The addon that is shipped: that of this machine needs a later glibc. Compiles what has changed. */
export function makeAddon(name: 'linux-x64'): void {
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/prebuild.mjs'), name], {
    cwd: ROOT,
    stdio: 'inherit',
  });
}

/** Runs a script of scripts/release/; returns the files that it made. */
export function make(script: string, output: string, ...args: readonly string[]): readonly string[] {
  const file = path.join(ROOT, 'scripts/release', script);
  const printed = execFileSync(process.execPath, [file, '--output', output, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return [...printed.matchAll(/^(\/.*) \([0-9.]+ MB\)$/gm)].map(([, made = '']) => made);
}

export const digestOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex');
