/** Reads a small regular text file, up to a limit; refuses FIFOs, devices and folders. Lists the files of a folder. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../../errors.ts';
import { QUOTAS } from '../../fairness/limits.ts';

/** Owner and permissions of a file or a folder, as stat(2) reports them. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  /** Permission bits. */
  readonly mode: number;
}

export interface ReadText {
  readonly text: string;
  readonly owner: Ownership;
}

/** The reason why a file could not be read; `line` is set where a byte is the cause. */
export interface ReadProblem {
  readonly line: number | undefined;
  readonly message: string;
}

/** Most files are shorter, and there may be thousands. */
const FIRST_BYTES = 2048;

/** The text without a byte order mark. */
export function readText(file: string, maxBytes: number): ReadText | ReadProblem {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer. Windows has no such flag: | reads undefined as 0.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return readOpen(descriptor, maxBytes);
  } catch (error) {
    const failed = descriptor === undefined ? 'opened' : 'read';
    return problem(`cannot be ${failed}: ${describe(error)}; ${remedyOf(error)}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The paths in a folder, without hidden ones, in order; none where it is missing; or why it cannot be read. */
export function listFolder(folder: string): readonly string[] | string {
  try {
    const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
    return names.sort().map((name) => path.join(folder, name));
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? [] : `cannot be read: ${describe(error)}; ${remedyOf(error)}`;
  }
}

const problem = (message: string, line?: number): ReadProblem => ({ line, message });

function readOpen(descriptor: number, maxBytes: number): ReadText | ReadProblem {
  const status = fstatSync(descriptor);
  if (status.isDirectory()) return problem('is a folder; name a file in it');
  if (!status.isFile()) return problem('is a pipe or a device; name a regular file');
  // The reported size is not used: the file may grow, and the size of a /proc file is 0.
  let buffer = Buffer.allocUnsafe(Math.min(maxBytes + 1, FIRST_BYTES));
  let length = 0;
  for (let got = -1; got !== 0 && length <= maxBytes; length += got) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(maxBytes + 1, 4 * buffer.length));
    got = readSync(descriptor, buffer, length, buffer.length - length, null);
  }
  if (length > maxBytes)
    return problem(
      maxBytes === QUOTAS.configFile.maxBytes
        ? 'is larger than 1 MiB; split it'
        : `is larger than ${maxBytes / 1024} KiB; name another file`,
    );
  const bytes = buffer.subarray(0, length);
  const text = decode(bytes);
  if (text === undefined) return problem('is not UTF-8; save it as UTF-8', findBadLine(bytes));
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return problem('contains a NUL character; save it as UTF-8', text.slice(0, nul).split('\n').length);
  const { uid, gid, mode } = status;
  return { text, owner: { uid, gid, mode: mode & 0o777 } };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// No multi-byte sequence of UTF-8 contains a newline byte, so lines can be decoded one by one.
function findBadLine(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    if (decode(bytes.subarray(start, end)) === undefined) return line;
    line++;
    start = end + 1;
  }
  return line;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a socket or a device',
  ENOTDIR: 'a part of its path is not a folder',
};

/** The reason of a file system error, without the path. */
export const describe = (error: unknown): string => REASONS[codeOf(error)] ?? codeOf(error);

/** The remedy for a file that cannot be opened or read. */
function remedyOf(error: unknown): string {
  return ['EACCES', 'EPERM'].includes(codeOf(error))
    ? 'let the user of the service read it, and enter the folders that it is in'
    : 'correct the path, or create the file';
}
