/** Rules and machines whose events are not sent to people for some time. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { codeOf, ServiceError } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import { isObject, parseJson } from '../json.ts';
import { Listeners } from '../listeners.ts';
import type { Log } from '../log/log.ts';
import { replaceFile } from '../replace-file.ts';
import type { MachineEvent, Mute } from '../wire/events.ts';

export interface MutesOptions {
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  /** Unix milliseconds. */
  readonly unixMs: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Where they survive a restart; undefined: nowhere. */
  readonly path: string | undefined;
  /** Returns the id of the machine, or the rule, that people call `what`; undefined: there is neither. */
  readonly find: (what: string) => string | undefined;
}

export class Mutes {
  readonly #options: MutesOptions;
  /** By the id of a machine, or the name of a rule. */
  readonly #mutes = new Map<string, Mute>();
  readonly #listeners = new Listeners<[]>();
  #timer: unknown;
  /** Settles when those of the last run are read, and later when the last write has. */
  #writing: Promise<void>;

  constructor(options: MutesOptions) {
    this.#options = options;
    this.#writing = this.#read();
  }

  /** Resolves when those of the last run count; never where the disk hangs. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Those that have not ended, the next one to end first. */
  get list(): readonly Mute[] {
    return [...this.#mutes.values()].sort((a, b) => a.until - b.until);
  }

  hides({ machine, subject }: Pick<MachineEvent, 'machine' | 'subject'>): boolean {
    const [rule = ''] = subject.split(' ');
    return this.#mutes.has(machine) || this.#mutes.has(rule);
  }

  /** 0 seconds end it. Throws ServiceError where nothing is called `what`. */
  mute(called: string, seconds: number, reason: string): void {
    const what = this.#options.find(called) ?? (this.#mutes.has(called) ? called : undefined);
    if (what === undefined) throw new ServiceError('not_found', 'No rule and no machine has this name.');
    if (seconds > 0 && !this.#mutes.has(what) && this.#mutes.size >= PLACES.mutes.max)
      throw new ServiceError('not_possible_now', `There are ${PLACES.mutes.max} already.`);
    this.#mutes.delete(what);
    const until = Math.ceil(this.#options.unixMs() / 1000 + seconds);
    if (seconds > 0) this.#mutes.set(what, { what, until, reason });
    this.#expire();
    this.#write();
    this.#listeners.notify();
  }

  /** Calls `listener` when events may no longer be hidden, or are, until the returned function is called. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  close(): void {
    this.#options.clock.clearTimer(this.#timer);
  }

  /** Removes those that have ended, and waits for the next one. */
  #expire(): void {
    const { clock, unixMs } = this.#options;
    for (const { what, until } of this.list) if (until * 1000 <= unixMs()) this.#mutes.delete(what);
    clock.clearTimer(this.#timer);
    const [next] = this.list;
    if (next === undefined) return;
    this.#timer = clock.setTimer(
      () => {
        this.#expire();
        this.#listeners.notify();
      },
      next.until * 1000 - unixMs(),
    );
  }

  /** Never rejects. A disk that hangs is not waited for. */
  async #read(): Promise<void> {
    const { path, log } = this.#options;
    if (path === undefined) return;
    try {
      const read = parseJson(await readFile(path, 'utf8'));
      // Written by this program: no other user may write in this folder.
      const kept = isObject(read) && Array.isArray(read['mutes']) ? (read['mutes'] as Mute[]) : [];
      for (const mute of kept) if (!this.#mutes.has(mute.what)) this.#mutes.set(mute.what, mute);
      this.#expire();
      this.#listeners.notify();
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') log.warn(`${path}: ${codeOf(error)}; what was muted is not any more`);
    }
  }

  /** One write after the other; a disk that hangs is not waited for. */
  #write(): void {
    const { path, log } = this.#options;
    if (path === undefined) return;
    this.#writing = this.#writing
      .then(() => replaceFile(path, [JSON.stringify({ mutes: this.list })]))
      .catch((error: unknown) => log.warn(`${path}: ${codeOf(error)}; what is muted is not after a restart`));
  }
}
