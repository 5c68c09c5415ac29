/** Loads configurations written for one test, and puts what is wrong with them in a short form. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { CheckAddresses } from '#src/config/items.js';
import { type Loaded, type LoadOptions, loadConfig } from '#src/config/load.js';
import { ConfigError, type Problem } from '#src/config/problems.js';

/** Stands for the address lists' own parser: enough to see that each list is given to it, and how. */
export const checkAddresses: CheckAddresses = (entries, allowWildcard) => ({
  problems: entries.flatMap((value, index) => {
    const [address = '', prefix] = value.split('/');
    const isSound =
      (value === '*' && allowWildcard) ||
      (isIP(address) > 0 && (prefix === undefined || /^\d+$/.test(prefix)));
    return isSound ? [] : [{ index, value, reason: 'expected an address' }];
  }),
  warnings: entries.filter((entry) => entry === '0.0.0.0/0').map((entry) => `${entry} is everybody`),
});

interface Scope {
  teardown(run: () => void): void;
}

/** A new folder that goes with the test. */
export function makeFolder(t: Scope): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'hostwire-config-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Writes files (mode 600) below `folder`. */
export function writeFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content, { mode: 0o600 });
  }
}

export function optionsFor(folder: string, more: Partial<LoadOptions> = {}): LoadOptions {
  return {
    paths: [],
    overrides: new Map(),
    surroundings: { platform: 'linux', cwd: folder, variables: {} },
    checkAddresses,
    ...more,
  };
}

/** Loads `files` from a folder of their own. */
export function load(t: Scope, files: Files, more: Partial<LoadOptions> = {}): Loaded {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return loadConfig(optionsFor(folder, more));
}

/** What stops the load of `files`; an empty list where nothing does. */
export function problemsOf(t: Scope, files: Files, more: Partial<LoadOptions> = {}): readonly Problem[] {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return catchProblems(() => loadConfig(optionsFor(folder, more)));
}

export function catchProblems(run: () => unknown): readonly Problem[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** `config.json:3 auth.enabled expected …` */
export function shorten({ file, line, key, message }: Problem): string {
  return [`${path.basename(file)}:${line ?? '-'}`, key ?? '-', message].join(' ');
}

export function shortProblemsOf(t: Scope, files: Files, more: Partial<LoadOptions> = {}): readonly string[] {
  return problemsOf(t, files, more).map(shorten);
}

export function yaml(t: Scope, text: string): readonly string[] {
  return shortProblemsOf(t, { 'config.yaml': text });
}

export function json(t: Scope, text: string): readonly string[] {
  return shortProblemsOf(t, { 'config.json': text });
}
