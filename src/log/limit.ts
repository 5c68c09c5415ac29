/** Limits the number of lines that clients cause; omitted lines are counted and reported. */
import { AddressCounts } from '../fairness/address-counts.ts';
import type { LogFields } from './format.ts';

const MINUTE_MS = 60_000;
/** Maximum number of lines of one kind that no client caused: `media`, `power`, `process`, and all others. */
const MAX_OF_KIND = 50;
/** Maximum number of lines of one address per minute. */
const MAX_OF_ADDRESS = 150;
/**
 * The first lines of each address per minute have a limit of their own, which the many lines of another address cannot
 * exhaust; those of a /64 network have a multiple.
 */
const FIRST_LINES = 5;
const MAX_OF_FIRST = 50;
/** Maximum number of other lines of all clients without the key: with all those above 400 lines, 120 KiB. */
const MAX_OF_STRANGERS = 150;
/** Maximum for all clients with the key: their commands must be found in the log. */
const MAX_OF_KEYED = 2000;
/**
 * After a limit was exceeded in one minute, this share of it remains in the next: a client that continues for days must
 * not fill a disk.
 */
const SHARE_AFTER_EXCESS = 0.1;

export interface LineLimiterOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Receives a sentence about the omitted lines. */
  readonly report: (text: string) => void;
  /** Calls back after `ms`, without keeping the process alive. */
  readonly later?: (act: () => void, ms: number) => void;
}

export class LineLimiter {
  readonly #options: LineLimiterOptions;
  /** Lines of this minute by the key that they are counted under. */
  readonly #counts = new Map<string, number>();
  /** First lines of this minute. */
  #first = new AddressCounts();
  /** Limits that were exceeded in this minute, and in the previous one. */
  #excessive = new Set<string>();
  #reduced: ReadonlySet<string> = new Set();
  #startedAt = Number.NEGATIVE_INFINITY;
  #leftOut = 0;
  #leftOutInAll = 0;
  /** The first line that exceeded its limit. */
  #firstLeftOut = '';

  constructor(options: LineLimiterOptions) {
    this.#options = options;
  }

  /** Number of omitted lines since the start. */
  get leftOut(): number {
    return this.#leftOutInAll;
  }

  /** Returns whether the line may be written. */
  takes(text: string, fields: LogFields = {}): boolean {
    this.#startMinute();
    const limits = this.#limitsOf(text, fields);
    const exceeded = limits.find(([name, most]) => (this.#counts.get(name) ?? 0) >= this.#reduce(name, most));
    if (exceeded !== undefined) {
      this.#leaveOut(exceeded[0]);
      return false;
    }
    for (const [name] of limits) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    if (limits.includes(FIRST) && fields.address !== undefined) this.#first.add(fields.address);
    return true;
  }

  #limitsOf(text: string, { address, keyed = false }: LogFields): readonly Limit[] {
    if (address === undefined) return [[kindOf(text), MAX_OF_KIND]];
    if (keyed) return [['clients with the key', MAX_OF_KEYED]];
    const isFirst =
      this.#first.hasCapacity(address, FIRST_LINES) && (this.#counts.get(FIRST[0]) ?? 0) < MAX_OF_FIRST;
    return [[address, MAX_OF_ADDRESS], isFirst ? FIRST : OTHERS];
  }

  #reduce(name: string, most: number): number {
    return this.#reduced.has(name) ? most * SHARE_AFTER_EXCESS : most;
  }

  #leaveOut(name: string): void {
    this.#excessive.add(name);
    if (this.#leftOut === 0) {
      this.#firstLeftOut = name;
      const { later = laterUnref, now } = this.#options;
      later(() => this.#startMinute(), MINUTE_MS - (now() - this.#startedAt));
    }
    this.#leftOut++;
    this.#leftOutInAll++;
  }

  #startMinute(): void {
    const now = this.#options.now();
    if (now - this.#startedAt < MINUTE_MS) return;
    this.#reduced = now - this.#startedAt < 2 * MINUTE_MS ? this.#excessive : new Set();
    this.#excessive = new Set();
    this.#startedAt = now;
    this.#counts.clear();
    this.#first = new AddressCounts();
    const count = this.#leftOut;
    this.#leftOut = 0;
    if (count > 0)
      this.#options.report(
        `${count} lines were left out within a minute, because there were too many; the first of ${this.#firstLeftOut}`,
      );
  }
}

const laterUnref = (act: () => void, ms: number) => void setTimeout(act, ms).unref();

const kindOf = (text: string) => /^[a-z]+(?=:)/.exec(text)?.[0] ?? 'other kinds';

type Limit = readonly [name: string, most: number];

const FIRST: Limit = ['first lines of clients without the key', MAX_OF_FIRST];
const OTHERS: Limit = ['clients without the key', MAX_OF_STRANGERS];
