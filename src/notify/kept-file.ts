/** The file beside the history in which the queues of the targets survive a restart. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { codeOf } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';
import type { Log } from '../log/log.ts';
import type { Kept } from './outage.ts';

/** Of the program that wrote a file: another one is not read. */
const VERSION = 1;

export class KeptFile {
  /** Undefined: nothing is kept. */
  readonly #path: string | undefined;
  readonly #log: Pick<Log, 'warn'>;
  #isFailing = false;

  /** `historyPath`: `history.path`. */
  constructor(historyPath: string | undefined, log: Pick<Log, 'warn'>) {
    this.#path = historyPath === undefined ? undefined : `${historyPath}.notify`;
    this.#log = log;
  }

  /** Returns the state of each target by its name. */
  read(): ReadonlyMap<string, Kept> {
    if (this.#path === undefined) return new Map();
    try {
      const kept = parseJson(readFileSync(this.#path, 'utf8'));
      // Written by this program, which no other user may do in this folder.
      if (isObject(kept) && kept['version'] === VERSION)
        return new Map(Object.entries(kept['targets'] as Readonly<Record<string, Kept>>));
      this.#note('it is not a file of this version');
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#note(codeOf(error));
    }
    return new Map();
  }

  /** In one step, but without waiting for the disk: a process may be killed at any time while its system lives on. */
  write(targets: ReadonlyMap<string, Kept>): void {
    if (this.#path === undefined) return;
    const temporary = `${this.#path}.new`;
    const text = JSON.stringify({ version: VERSION, targets: Object.fromEntries(targets) });
    try {
      writeFileSync(temporary, text, { mode: 0o600 });
      renameSync(temporary, this.#path);
      this.#isFailing = false;
    } catch (error) {
      this.#note(codeOf(error));
    }
  }

  #note(reason: string): void {
    if (!this.#isFailing)
      this.#log.warn(`${this.#path}: ${reason}; messages that wait do not survive a restart`);
    this.#isFailing = true;
  }
}
