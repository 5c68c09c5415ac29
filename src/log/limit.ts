/** Limits the number of lines that clients cause; omitted lines are counted and reported. */
import { RATES } from '../fairness/limits.ts';
import { Rate } from '../fairness/rate.ts';
import type { LogFields } from './format.ts';
import { laterUnref } from './output.ts';

const MINUTE_MS = 60_000;

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
  readonly #ofKind = new Rate(RATES.linesOfKind);
  readonly #keyed = new Rate(RATES.keyedLines);
  readonly #first = new Rate(RATES.firstLines);
  readonly #firstInAll = new Rate(RATES.firstLinesInAll);
  readonly #others = new Rate(RATES.lines);
  readonly #othersInAll = new Rate(RATES.linesInAll);
  /** Lines left out since the last report, and the first of them. */
  #unreported = 0;
  #firstLeftOut = '';
  #leftOut = 0;

  constructor(options: LineLimiterOptions) {
    this.#options = options;
  }

  /** Number of omitted lines since the start. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Returns whether the line may be written. */
  takes(text: string, { address, keyed = false }: LogFields = {}): boolean {
    const now = this.#options.now();
    if (address === undefined) return this.#ofKind.take(kindOf(text), now) || this.#leaveOut(kindOf(text));
    if (keyed) return this.#keyed.take('', now) || this.#leaveOut('clients with the key');
    const isFirst = this.#first.take(address, now) && this.#firstInAll.take('', now);
    const isWithin = isFirst || (this.#others.take(address, now) && this.#othersInAll.take('', now));
    return isWithin || this.#leaveOut(address);
  }

  #leaveOut(name: string): false {
    const { later = laterUnref } = this.#options;
    if (this.#unreported === 0) {
      this.#firstLeftOut = name;
      later(() => this.#report(), MINUTE_MS);
    }
    this.#unreported++;
    this.#leftOut++;
    return false;
  }

  #report(): void {
    const count = this.#unreported;
    this.#unreported = 0;
    this.#options.report(
      `${count} lines were left out within a minute, because there were too many; the first of ${this.#firstLeftOut}`,
    );
  }
}

const kindOf = (text: string) => /^[a-z]+(?=:)/.exec(text)?.[0] ?? 'other kinds';
