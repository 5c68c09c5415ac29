/** The file beside the history in which the queues of the targets survive a restart. */
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { codeOf } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import type { Kept } from './outage.ts';

/** Of the program that wrote a file: another one is not read. */
const VERSION = 1;

/** Returns the state of each target by its name, and why the file cannot be read. */
export function readKept(path: string): {
  readonly kept: ReadonlyMap<string, Kept>;
  readonly failure?: string;
} {
  try {
    const read = parseJson(readFileSync(path, 'utf8'));
    // Written by this program: no other user may write in this folder.
    if (isObject(read) && read['version'] === VERSION)
      return { kept: new Map(Object.entries(read['targets'] as Readonly<Record<string, Kept>>)) };
    return { kept: new Map(), failure: 'it is not a file of this version' };
  } catch (error) {
    return { kept: new Map(), ...(codeOf(error) !== 'ENOENT' && { failure: codeOf(error) }) };
  }
}

export const keptText = (targets: ReadonlyMap<string, Kept>): string =>
  JSON.stringify({ version: VERSION, targets: Object.fromEntries(targets) });

/**
 * Writes in one step, but does not wait for the disk: a process may be killed at any time while its system lives on. Returns
 * why it cannot be written. Never rejects.
 */
export async function writeKept(path: string, text: string): Promise<string | undefined> {
  try {
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
