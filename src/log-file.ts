/** The log of a service that has no console: a file of bounded size, with the time on each line. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

const MOST_BYTES = 1_048_576;

/**
 * Appends what it is given to `file`, whose folder is made if need be. Above `mostBytes` the file becomes `<file>.old`
 * (the former one goes) and a new one begins. It never throws: a full disk must not end the service.
 */
export function openLogFile(file: string, mostBytes: number = MOST_BYTES): (line: string) => void {
  let size = 0;
  succeeds(() => mkdirSync(path.dirname(file), { recursive: true }));
  succeeds(() => {
    size = statSync(file).size;
  });
  return (line) => {
    const entry = `${new Date().toISOString()} ${line}`;
    const bytes = Buffer.byteLength(entry);
    if (size > 0 && size + bytes > mostBytes) {
      // Where it can't be renamed, nothing more is written: the bound holds.
      if (!succeeds(() => renameSync(file, `${file}.old`))) return;
      size = 0;
    }
    if (succeeds(() => appendFileSync(file, entry, { mode: 0o600 }))) size += bytes;
  };
}

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    // There is nobody left to tell.
    return false;
  }
}
