/** The file beside the history in which the queues of the targets survive a restart. */
import { readFile } from 'node:fs/promises';
import { settlesWithin } from '../clock.ts';
import { codeOf } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import { replaceFile } from '../replace-file.ts';
import type { Kept } from './outage.ts';

/** Of the program that wrote a file: another one is not read. */
const VERSION = 1;

/** The state of each target by its name, and why a file cannot be read. */
export interface KeptTargets {
  readonly kept: ReadonlyMap<string, Kept>;
  readonly failure?: string;
}

/** A disk that does not answer for this long is not waited for. */
const READ_LIMIT_MS = 2000;

export function keptIn(text: string): KeptTargets {
  const read = parseJson(text);
  // Written by this program: no other user may write in this folder.
  if (isObject(read) && read['version'] === VERSION)
    return { kept: new Map(Object.entries(read['targets'] as Readonly<Record<string, Kept>>)) };
  return { kept: new Map(), failure: 'it is not a file of this version' };
}

/** Never rejects. `path` undefined: nothing is kept. */
export async function readKept(path: string | undefined): Promise<KeptTargets> {
  if (path === undefined) return { kept: new Map() };
  try {
    const reading = readFile(path, 'utf8');
    if (await settlesWithin(reading, READ_LIMIT_MS)) return keptIn(await reading);
    return { kept: new Map(), failure: 'the disk does not answer' };
  } catch (error) {
    return { kept: new Map(), ...(codeOf(error) !== 'ENOENT' && { failure: codeOf(error) }) };
  }
}

/** Outages whose text is made in one turn of the event loop: 0.3 ms. */
const PER_PART = 128;

/** Yields the text of the file in parts. */
export function* keptParts(targets: ReadonlyMap<string, Kept>): Generator<string> {
  yield `{"version":${VERSION},"targets":{`;
  let comma = '';
  for (const [name, { outages, ...others }] of targets) {
    yield `${comma}${JSON.stringify(name)}:${JSON.stringify(others).slice(0, -1)},"outages":[`;
    for (let at = 0; at < outages.length; at += PER_PART) {
      const part = JSON.stringify(outages.slice(at, at + PER_PART)).slice(1, -1);
      yield at === 0 ? part : `,${part}`;
    }
    yield ']}';
    comma = ',';
  }
  yield '}}';
}

/**
 * Writes in one step, but does not wait for the disk: a process may be killed at any time while its system lives on. Returns
 * why it cannot be written. Never rejects.
 */
export async function writeKept(path: string, parts: Iterable<string>): Promise<string | undefined> {
  try {
    await replaceFile(path, parts, false);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}
