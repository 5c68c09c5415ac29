/** The alternate screen of a terminal: writes the lines that have changed, and never waits for a slow terminal. */
import { constants, openSync, writeSync } from 'node:fs';
import { codeOf } from '../../errors.ts';

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[m\x1b[2J';
const LEAVE = '\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m\x1b[?1049l';
const RETRY_MS = 50;
/** Time after which a terminal that takes nothing is left as it is. */
const LEAVE_LIMIT_MS = 500;

/** Writes as much as the terminal takes; returns the number of bytes. Throws when it is gone. */
export type Write = (bytes: Uint8Array) => number;

/** Opens standard output anew, so that only this program writes without waiting; if that fails, uses it as it is. */
export function openTerminal(): Write {
  let descriptor = 1;
  try {
    descriptor = openSync('/dev/fd/1', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // The terminal of another user (su), or Windows.
  }
  return (bytes) => {
    try {
      return writeSync(descriptor, bytes);
    } catch (error) {
      if (codeOf(error) === 'EAGAIN') return 0;
      throw error;
    }
  };
}

export class Screen {
  readonly #write: Write;
  readonly #onLost: () => void;
  #isEntered = false;
  /** Lines that the terminal shows. */
  #shown: readonly string[] = [];
  /** Bytes that it has not taken yet. */
  #rest: Uint8Array = Buffer.alloc(0);
  #retry: NodeJS.Timeout | undefined;
  /** Bytes written so far. */
  written = 0;

  constructor(write: Write, onLost: () => void) {
    this.#write = write;
    this.#onLost = onLost;
  }

  /** May be called again: another program may have used the terminal since. */
  enter(): void {
    this.#isEntered = true;
    this.#shown = [];
    this.#rest = Buffer.from(ENTER);
    this.#flush();
  }

  /** Shows `lines`. Skipped while the terminal has not taken the previous lines: the next ones are newer. */
  draw(lines: readonly string[]): void {
    if (!this.#isEntered || this.#rest.length > 0) return;
    // Erased first: after a full line, terminals erase its last character.
    const changed = lines.map((line, row) =>
      line === this.#shown[row] ? '' : `\x1b[${row + 1}H\x1b[K${line}`,
    );
    this.#shown = lines;
    this.#rest = Buffer.from(changed.join(''));
    this.#flush();
  }

  /** Draws all lines at the next `draw`: the size of the terminal has changed. */
  clear(): void {
    this.#shown = [];
  }

  /** Restores the previous screen. */
  leave(): void {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    clearTimeout(this.#retry);
    this.#rest = Buffer.from(LEAVE);
    const deadline = performance.now() + LEAVE_LIMIT_MS;
    try {
      while (this.#rest.length > 0 && performance.now() < deadline) {
        this.#rest = this.#rest.subarray(this.#write(this.#rest));
        if (this.#rest.length > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    } catch {
      // The terminal is gone.
    }
  }

  #flush(): void {
    try {
      const taken = this.#rest.length === 0 ? 0 : this.#write(this.#rest);
      this.written += taken;
      this.#rest = this.#rest.subarray(taken);
    } catch {
      this.#isEntered = false;
      this.#onLost();
      return;
    }
    clearTimeout(this.#retry);
    if (this.#rest.length > 0) this.#retry = setTimeout(() => this.#flush(), RETRY_MS);
  }
}
