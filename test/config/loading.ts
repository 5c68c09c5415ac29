/** Loads configurations written for one test, and shortens their problems. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AddressList } from '#src/access/addresses.js';
import { ConfigError, type Problem } from '#src/config/checks/problems.js';
import { type Loaded, type LoadOptions, loadConfig } from '#src/config/load.js';
import { emptyFolder } from '../helpers/scope.ts';

interface Scope {
  teardown(run: () => void): void;
}

/** A new folder that is removed after the test; one of a user's configuration. */
export function makeFolder(t: Scope): string {
  const base = emptyFolder(t, 'config');
  const folder = path.join(base, 'hostwire');
  mkdirSync(folder);
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
    surroundings: { platform: 'linux', cwd: folder, variables: { XDG_CONFIG_HOME: path.dirname(folder) } },
    ...more,
  };
}

/** Loads `files` from a folder of their own. */
export function load(t: Scope, files: Files, more: Partial<LoadOptions> = {}): Loaded {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return loadConfig(optionsFor(folder, more));
}

/** The problems that stop the load of `files`; empty when it succeeds. */
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

/** `config.json:3 auth.enabled expected …`; paths in the message without the folder of the test. */
export function shorten({ file, line, key, message }: Problem): string {
  const text = message.replaceAll(/\S+\/hostwire-config-[^/]+\/hostwire\//g, '');
  return [`${path.basename(file)}:${line ?? '-'}`, key ?? '-', text].join(' ');
}

export function shortProblemsOf(t: Scope, files: Files, more: Partial<LoadOptions> = {}): readonly string[] {
  return problemsOf(t, files, more).map(shorten);
}

/** The problems of `files` as the service of the user `uid` finds them; paths of files without the folder of the test. */
export function namedProblemsOf(t: Scope, files: Files, uid?: number): readonly string[] {
  const folder = makeFolder(t);
  writeFiles(folder, files);
  return namedProblemsIn(folder, uid);
}

export function namedProblemsIn(folder: string, uid?: number): readonly string[] {
  const options = optionsFor(folder);
  const load = () => loadConfig({ ...options, surroundings: { ...options.surroundings, uid } });
  return catchProblems(load).map((problem) => shorten(problem).replaceAll(`${folder}/`, ''));
}

export function yaml(t: Scope, text: string): readonly string[] {
  return shortProblemsOf(t, { 'config.yaml': text });
}

export function json(t: Scope, text: string): readonly string[] {
  return shortProblemsOf(t, { 'config.json': text });
}

/**
 * A configuration as a file spells it: address lists as their entries, absent values left out, and maps with the
 * usual prototype, which strict comparisons compare too.
 */
export function asWritten(config: unknown): unknown {
  return JSON.parse(
    JSON.stringify(config, (_key, value: unknown) => (isAddressList(value) ? value.entries : value)),
  );
}

function isAddressList(value: unknown): value is AddressList {
  return typeof value === 'object' && value !== null && 'rules' in value && 'entries' in value;
}
