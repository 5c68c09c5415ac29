/** Log files: that of a service without a console, and that of the audit trail. */
import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { QUOTAS } from '../fairness/limits.ts';

/**
 * Opens `file` for appending lines, and creates its folder. Above `maxBytes` the file is renamed to `<file>.old`,
 * replacing an earlier one, and a new file is started. It never throws: a full disk must not end the service.
 */
export function openLogFile(
  file: string,
  maxBytes: number = QUOTAS.logFile.maxBytes,
): (line: string) => void {
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
    // The failure cannot be reported anywhere.
    return false;
  }
}

/** A symbolic link may lead anywhere, and a pipe without a reader must not stop the service. */
const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  // Windows has neither flag.
  ((constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));

/** Writes lines while its file can be written. Nothing here throws. */
export class AuditFile {
  readonly #path: string;
  readonly #onProblem: (text: string) => void;
  #descriptor: number | undefined;

  constructor(file: string, onProblem: (text: string) => void) {
    this.#path = file;
    this.#onProblem = onProblem;
    this.reopen();
  }

  /** Opens the path again, after a log rotation has moved the old file. */
  reopen(): void {
    const before = this.#descriptor;
    this.#descriptor = undefined;
    if (before !== undefined) succeeds(() => closeSync(before));
    try {
      const descriptor = openSync(this.#path, APPEND, 0o600);
      if (fstatSync(descriptor).isFile()) this.#descriptor = descriptor;
      else {
        closeSync(descriptor);
        this.#onProblem(`log.file: ${this.#path} is not a file; its lines go to the log`);
      }
    } catch (error) {
      const reason = messageOf(error);
      this.#onProblem(`log.file cannot be opened, its lines go to the log: ${reason}`);
    }
  }

  /** Returns false if it was not written. */
  write(line: string): boolean {
    const descriptor = this.#descriptor;
    return descriptor !== undefined && succeeds(() => writeSync(descriptor, line));
  }
}
