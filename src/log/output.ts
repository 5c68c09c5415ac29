/** A standard stream of the service. Writing never waits and never throws: a reader may be slow, or gone, or a disk full. */

export interface OutputOptions {
  /** Takes as many of the first bytes as it can at once, and returns their number. Throws where it takes none any more. */
  readonly take: (bytes: Buffer) => number;
  /** The line that reports how many were lost. */
  readonly describeLost: (lines: number) => string;
  /** Calls back after `ms`, without keeping the process alive. */
  readonly later?: (act: () => void, ms: number) => void;
}

/** For a reader that is slow. */
const MAX_KEPT_BYTES = 64 * 1024;
const RETRY_MS = 200;

interface Kept {
  readonly bytes: Buffer;
  /** The line, and those that it reports as lost: so many are lost with it. */
  readonly lines: number;
  /** Its first bytes were taken, or those of the line that it ends. */
  readonly isBegun: boolean;
}

export class Output {
  readonly #options: OutputOptions;
  #kept: Kept[] = [];
  #keptBytes = 0;
  #lost = 0;
  /** The last line that was taken lacks its end. */
  #isTorn = false;
  #isWaiting = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Lines that were lost and are not reported yet. */
  get lost(): number {
    return this.#lost;
  }

  /** `line` ends with a newline. */
  write(line: string): void {
    this.flush();
    if (this.#keptBytes > 0 && this.#keptBytes + line.length > MAX_KEPT_BYTES) {
      this.#lost++;
      return;
    }
    const report = this.#lost > 0 ? this.#options.describeLost(this.#lost) : '';
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${report}${line}`);
    this.#kept.push({ bytes, lines: this.#lost + 1, isBegun: this.#isTorn });
    this.#keptBytes += bytes.length;
    this.#lost = 0;
    this.#isTorn = false;
    if (this.#kept.length === 1) this.flush();
  }

  /** Writes what is kept, as far as it is taken. */
  flush(): void {
    for (let first = this.#kept[0]; first !== undefined; first = this.#kept[0]) {
      const taken = this.#take(first);
      if (taken === undefined) return;
      this.#keptBytes -= taken;
      if (taken < first.bytes.length) {
        this.#kept[0] = {
          bytes: first.bytes.subarray(taken),
          lines: first.lines,
          isBegun: first.isBegun || taken > 0,
        };
        this.#retryLater();
        return;
      }
      this.#kept.shift();
    }
  }

  /** undefined: all that was kept is lost. */
  #take({ bytes, isBegun }: Kept): number | undefined {
    try {
      return this.#options.take(bytes);
    } catch {
      // There is nowhere to report it: the next line that can be written says how many were lost.
      for (const { lines } of this.#kept) this.#lost += lines;
      this.#isTorn ||= isBegun;
      this.#kept = [];
      this.#keptBytes = 0;
      return undefined;
    }
  }

  #retryLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    const { later = laterUnref } = this.#options;
    later(() => {
      this.#isWaiting = false;
      this.flush();
    }, RETRY_MS);
  }
}

const laterUnref = (act: () => void, ms: number) => void setTimeout(act, ms).unref();
