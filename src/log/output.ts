/** A standard stream of the service. Writing never waits and never throws: a reader may be slow, a disk full. */
import { QUOTAS } from '../fairness/limits.ts';

export interface OutputOptions {
  /** Writes as many bytes as it can without waiting, and returns their number. Throws if it accepts none any more. */
  readonly take: (bytes: Buffer) => number;
  /** Returns the line that reports how many were lost. */
  readonly describeLost: (lines: number) => string;
  /** Calls back after `ms`, without keeping the process alive. */
  readonly later?: (act: () => void, ms: number) => void;
}

const RETRY_MS = 200;

interface BufferedLine {
  readonly bytes: Buffer;
  /** The line, plus the lines that it reports as lost: all of them are lost with it. */
  readonly lines: number;
  /** Its first bytes were written, or those of the line that it ends. */
  readonly isBegun: boolean;
}

export class Output {
  readonly #options: OutputOptions;
  #buffered: BufferedLine[] = [];
  #bufferedBytes = 0;
  #lost = 0;
  /** The end of the last written line is missing. */
  #isTorn = false;
  #isWaiting = false;

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Number of lines that were lost and not reported yet. */
  get lost(): number {
    return this.#lost;
  }

  /** `line` ends with a newline. */
  write(line: string): void {
    this.flush();
    if (this.#bufferedBytes > 0 && this.#bufferedBytes + line.length > QUOTAS.logWaiting.maxBytes) {
      this.#lost++;
      return;
    }
    const report = this.#lost > 0 ? this.#options.describeLost(this.#lost) : '';
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${report}${line}`);
    this.#buffered.push({ bytes, lines: this.#lost + 1, isBegun: this.#isTorn });
    this.#bufferedBytes += bytes.length;
    this.#lost = 0;
    this.#isTorn = false;
    if (this.#buffered.length === 1) this.flush();
  }

  /** Writes the buffered lines, as far as the stream accepts them. */
  flush(): void {
    for (let first = this.#buffered[0]; first !== undefined; first = this.#buffered[0]) {
      const taken = this.#take(first);
      if (taken === undefined) return;
      this.#bufferedBytes -= taken;
      if (taken < first.bytes.length) {
        this.#buffered[0] = {
          bytes: first.bytes.subarray(taken),
          lines: first.lines,
          isBegun: first.isBegun || taken > 0,
        };
        this.#retryLater();
        return;
      }
      this.#buffered.shift();
    }
  }

  /** Returns undefined if all that was buffered is lost. */
  #take({ bytes, isBegun }: BufferedLine): number | undefined {
    try {
      return this.#options.take(bytes);
    } catch {
      // This cannot be reported now: the next line that can be written contains the number of lost ones.
      for (const { lines } of this.#buffered) this.#lost += lines;
      this.#isTorn ||= isBegun;
      this.#buffered = [];
      this.#bufferedBytes = 0;
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

export const laterUnref = (act: () => void, ms: number) => void setTimeout(act, ms).unref();
