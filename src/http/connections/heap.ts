/** Returns memory to the system after many clients have gone: by itself the C library keeps what lies below later blocks. */
import type { Clock } from '../../clock.ts';
import type { Host } from '../../host/host.ts';

const INTERVAL_MS = 5000;
/** For a minute, because much is freed late: by timeouts, by V8. */
const TIMES = 12;
/** Only growth by more than this is worth it: a trim takes some milliseconds on a thread. */
const MIN_GROWTH = 8 * 2 ** 20;

export interface HeapTrimOptions {
  readonly host: Pick<Host, 'trimHeap'>;
  readonly clock: Clock;
  /** The resident memory of this process, in bytes. */
  readonly rss: () => number;
}

export class HeapTrim {
  readonly #options: HeapTrimOptions;
  #timer: unknown;
  #left = 0;
  #isOn = false;
  #rss = 0;
  /** The least memory seen. */
  #atRest = Number.POSITIVE_INFINITY;

  constructor(options: HeapTrimOptions) {
    this.#options = options;
  }

  /** The resident memory of this process, in bytes. Without a free descriptor it cannot be read: what it was before. */
  rss(): number {
    try {
      this.#rss = this.#options.rss();
    } catch {
      // It is read again at the next look.
    }
    return this.#rss;
  }

  /** Before it, and after `stop`, nothing is done. */
  start(): void {
    this.#isOn = true;
    this.#atRest = this.rss();
  }

  stop(): void {
    this.#isOn = false;
    this.#left = 0;
    this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /** A connection was opened, or some were cut: within the next minute memory is looked at, and trimmed if it has grown. */
  trimSoon(): void {
    if (!this.#isOn) return;
    this.#left = TIMES;
    if (this.#timer === undefined) this.#lookLater();
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.setTimer(() => void this.#look(), INTERVAL_MS);
  }

  async #look(): Promise<void> {
    const { host } = this.#options;
    const now = this.rss();
    this.#atRest = Math.min(this.#atRest, now);
    // Again and again: whether it is free by now is not known.
    // Without a thread for it, it is tried at the next look.
    if (now > this.#atRest + MIN_GROWTH) await host.trimHeap().catch(() => undefined);
    if (--this.#left > 0) this.#lookLater();
    else this.#timer = undefined;
  }
}
