/** Writes a file in one step. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Writes `content` to `file`, which has its old content or the new one whatever happens on the way. `finish` gives the new
 * file, at first of this user alone, its owner and its mode. Throws where it cannot be written, and leaves it as it is.
 */
export function replaceFile(
  file: string,
  content: string | Buffer,
  finish: (temporary: string) => void,
): void {
  // A running service reads the folder at any time, and leaves hidden files alone.
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.new`);
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    finish(temporary);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
