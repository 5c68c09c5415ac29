/** The folder of keys (`auth.keys_folder`): one file per key, with its digest and what it may do, but not the key. */
import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describeDigest } from '../../access/key.ts';
import { codeOf } from '../../errors.ts';
import type { Scope } from '../../scopes.ts';
import { replaceFile } from './replace-file.ts';

/** The terms of a new key. */
export interface KeyTerms {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** As the configuration has it; undefined: without end. */
  readonly expires: string | undefined;
}

const ENDINGS = ['.yaml', '.yml', '.json'];

/** The lines of a key in a file of the folder; also what goes below its name in `auth.keys`. */
export const linesOf = (key: string, { scopes, expires }: KeyTerms): readonly string[] => [
  `digest: ${describeDigest(key)}`,
  `scopes: [${scopes.join(', ')}]`,
  ...(expires === undefined ? [] : [`expires: ${expires}`]),
];

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Returns whether the folder was missing. */
function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o755 });
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    // Not `recursive` first: with it Node reports a read-only mount as ENOENT.
    if (code !== 'ENOENT') throw error;
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    return true;
  }
}

/** Stores a new key, and returns the path of its file. The folder is made where it is missing. Throws where nothing can be written. */
export function storeKey(folder: string, key: string, terms: KeyTerms): string {
  const isNew = makeFolder(folder);
  const file = path.join(folder, `${terms.name}.yaml`);
  replaceFile(file, [...linesOf(key, terms), ''].join('\n'), (temporary) => {
    // The digest of 256 random bits need not be secret. Root pairs, perhaps with a umask of 077, and the service is another user.
    if (isNew) chmodSync(folder, 0o755);
    chmodSync(temporary, 0o644);
  });
  return file;
}

/** Removes the files of a key, several where another was made by hand; returns their paths. */
export function removeKey(folder: string, name: string): readonly string[] {
  const files = namesIn(folder)
    .filter((file) => ENDINGS.includes(path.extname(file)) && path.parse(file).name === name)
    .map((file) => path.join(folder, file));
  for (const file of files) rmSync(file);
  return files;
}
