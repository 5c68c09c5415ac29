/** Checks the file before SQLite opens it: whether it is ours, its identity, and how a damaged one is moved aside. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { APPLICATION_ID, VERSION } from './schema.ts';

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const VERSION_OFFSET = 60;
const APPLICATION_OFFSET = 68;
/** Endings of SQLite's files beside its own. */
const COMPANIONS = ['-wal', '-journal', '-shm'];

/** A reason for people why the history is not recorded on disk. */
export class Refusal extends Error {}

/**
 * Throws Refusal for a file that is not ours or too new, and leaves it unchanged. Creates a missing file, with mode
 * 0600.
 */
export function claimFile(path: string): void {
  if (!existsSync(dirname(path))) throw new Refusal(`the folder ${dirname(path)} does not exist`);
  // O_NONBLOCK: a pipe without a writer must not be waited for. Windows has no such flag.
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
  const descriptor = openSync(path, flags, 0o600);
  try {
    if (!fstatSync(descriptor).isFile()) throw new Refusal('it is not a file');
    const header = Buffer.alloc(HEADER_BYTES);
    const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
    if (length > 0) judgeHeader(header.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function judgeHeader(header: Buffer): void {
  const isOurs =
    header.length === HEADER_BYTES &&
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(APPLICATION_OFFSET) === APPLICATION_ID;
  if (!isOurs) throw new Refusal('it belongs to another program, and is left unchanged');
  judgeVersion(header.readUInt32BE(VERSION_OFFSET));
}

/** Throws Refusal. */
export function judgeVersion(version: number): void {
  if (version > VERSION)
    throw new Refusal(
      `it was written by a newer version of hostwire (format ${version}; this version has ${VERSION}), and is left unchanged`,
    );
}

export const logOf = (path: string): string => `${path}-wal`;

/** Changes when the path leads to another file; undefined: to none. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Renames a damaged file, with SQLite's files beside it; returns its new path. Throws if that is not possible. */
export function moveAside(path: string, now: Date): string {
  const date = now.toISOString().slice(0, 19).replaceAll(':', '');
  const target = Array.from(
    { length: 100 },
    (_, i) => `${path}.corrupt-${date}${i === 0 ? '' : `-${i}`}`,
  ).find((free) => !existsSync(free));
  if (target === undefined)
    throw new Refusal('it is damaged, and there are too many damaged files beside it');
  renameSync(path, target);
  for (const suffix of COMPANIONS)
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${target}${suffix}`);
  return target;
}
