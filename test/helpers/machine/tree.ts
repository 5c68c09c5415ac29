/** Builds the /proc, /sys and other files of a machine in a temporary folder, and reads it through the addon. */
import '../service/dead-buses.ts';
import {
  closeSync,
  constants,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counters, Host } from '#src/host/host.js';
import { type NativeMachine, openNativeHost, type Roots } from '#src/host/native.js';
import { emptyFolder } from '../scope.ts';

/** A folder, a link (its target is not resolved), or a file's content. */
export type Entry = { readonly folder: true } | { readonly link: string } | string | Buffer;
export const FOLDER: Entry = { folder: true };

/** Paths under the machine's root ("proc/net/dev", "sys/class/net/eth0/type") and their entries. */
export type Tree = Readonly<Record<string, Entry>>;

export interface Machine {
  readonly root: string;
  readonly host: NativeMachine;
  /** Adds or overwrites entries; a file keeps its inode, as a kernel file does. */
  write(tree: Tree): void;
  /** Removes an entry and everything below it. */
  remove(name: string): void;
}

/** Unlike writeFileSync, does not empty the file first: a prober that reads it at that moment would find nothing. */
function overwrite(file: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT);
  writeSync(descriptor, bytes);
  ftruncateSync(descriptor, bytes.length);
  closeSync(descriptor);
}

function writeTree(root: string, tree: Tree): void {
  for (const [name, entry] of Object.entries(tree)) {
    const target = path.join(root, name);
    mkdirSync(path.dirname(target), { recursive: true });
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) overwrite(target, entry);
    else if ('link' in entry) symlinkSync(entry.link, target);
    else mkdirSync(target, { recursive: true });
  }
}

/** A machine made of `tree`; its files are removed with the test. `options` are added to the roots. */
export function makeMachine(
  t: { teardown(done: () => void): unknown },
  tree: Tree,
  options: Roots = {},
): Machine {
  const root = emptyFolder(t, 'machine');
  writeTree(root, tree);
  const roots = { proc: path.join(root, 'proc'), sys: path.join(root, 'sys'), files: root, ...options };
  return {
    root,
    host: openNativeHost(roots),
    write: (more) => writeTree(root, more),
    remove: (name) => rmSync(path.join(root, name), { recursive: true }),
  };
}

/**
 * Reads every 20 ms, for at most a minute, until `isAnswered`: results of probers appear only in a later reading. Returns
 * the last reading in any case, so that a failing assertion shows what is missing.
 */
export async function readUntil(
  host: Host,
  sections: number,
  withDetail: boolean,
  isAnswered: (counters: Counters) => boolean,
): Promise<Counters> {
  const end = performance.now() + 60_000;
  while (true) {
    const counters = host.readCounters(sections, withDetail, 0);
    if (isAnswered(counters) || performance.now() > end) return counters;
    await sleep(20);
  }
}
