/** Reads a small text file, and nothing else: no FIFO, no device, no folder, and never more than a limit. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

export interface ReadText {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

/** What could not be read, in words; `line` where a byte is to blame. */
export interface ReadProblem {
  readonly line: number | undefined;
  readonly message: string;
}

/** A configuration file is at most this long, in bytes; ours has some 40 keys. */
export const MOST_BYTES = 65_536;

/** The text without a byte order mark. */
export function readText(path: string, mostBytes: number): ReadText | ReadProblem {
  let descriptor: number;
  try {
    // Without O_NONBLOCK the open of a FIFO waits for a writer. Windows has no such flag, and | reads undefined as 0.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return { line: undefined, message: `cannot be opened: ${describe(error)}` };
  }
  try {
    return readOpen(descriptor, mostBytes);
  } catch (error) {
    return { line: undefined, message: `cannot be read: ${describe(error)}` };
  } finally {
    closeSync(descriptor);
  }
}

function readOpen(descriptor: number, mostBytes: number): ReadText | ReadProblem {
  const status = fstatSync(descriptor);
  if (status.isDirectory()) return { line: undefined, message: 'expected a file, found a folder' };
  if (!status.isFile())
    return { line: undefined, message: 'expected a regular file, found a pipe or a device' };
  // The size is not asked for: the file may grow, and that of a /proc file is 0.
  const buffer = Buffer.allocUnsafe(mostBytes + 1);
  let length = 0;
  for (let got = -1; got !== 0 && length <= mostBytes; length += got) {
    got = readSync(descriptor, buffer, length, buffer.length - length, null);
  }
  if (length > mostBytes) return { line: undefined, message: `longer than ${mostBytes / 1024} KiB` };
  const bytes = buffer.subarray(0, length);
  const text = decode(bytes);
  if (text === undefined) return { line: findBadLine(bytes), message: 'not UTF-8' };
  const nul = text.indexOf('\0');
  if (nul !== -1) return { line: text.slice(0, nul).split('\n').length, message: 'holds a NUL character' };
  return { text, mode: status.mode & 0o777 };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// No sequence of UTF-8 holds a newline byte, so lines can be judged one by one.
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
  ELOOP: 'its symbolic links lead in a circle',
  ENXIO: 'it is a socket or a device',
  ENOTDIR: 'a part of its path is no folder',
};

/** The reason of a file system error, without the path. */
export function describe(error: unknown): string {
  const code = codeOf(error);
  return REASONS[code] ?? code;
}

/** `ENOENT` and its like. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}
