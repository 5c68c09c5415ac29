/** The log file of a service without a console: bounded in size, with a timestamp on each line. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';

const MAX_BYTES = 1_048_576;

/**
 * Opens `file` for appending lines, and creates its folder. Above `maxBytes` the file is renamed to `<file>.old`,
 * replacing an earlier one, and a new file is started. It never throws: a full disk must not end the service.
 */
export function openLogFile(file: string, maxBytes: number = MAX_BYTES): (line: string) => void {
  let size = 0;
  succeeds(() => mkdirSync(path.dirname(file), { recursive: true }));
  succeeds(() => {
    size = statSync(file).size;
  });
  return (line) => {
    const entry = `${new Date().toISOString()} ${line}`;
    const bytes = Buffer.byteLength(entry);
    if (size > 0 && size + bytes > maxBytes) {
      // If it cannot be renamed, nothing more is written, so the limit holds.
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
    // There is nowhere left to report it.
    return false;
  }
}
