/**
 * Returns memory to the system after many clients have gone: the C library keeps what lies below later blocks, and V8 keeps
 * what it has grown to until it collects again, which in a service at rest may never be.
 */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../../clock.ts';
import type { Host } from '../../host/host.ts';

const INTERVAL_MS = 5000;
/** For a minute, because much is freed late: by timeouts, by V8. */
const TIMES = 12;
/** Only growth by more than this is worth it: a trim takes some milliseconds on a thread. */
const GROWTH_BYTES = 8 * 2 ** 20;

/** V8 is left alone up to this many times what is in use, and GROWTH_BYTES: it needs room to work in. */
const SCRIPT_RATIO = 1.5;
/** Minimum time between two collections: one takes 5 ms for a service and 30 ms for a hub of 50 machines. */
const COLLECT_MS = 30_000;

/** The heap of V8. */
export interface ScriptHeap {
  /** Bytes that it takes, garbage and free pages included. */
  readonly bytes: () => number;
  /** Collects all garbage in one go; returns the bytes in use. */
  readonly collect: () => number;
}

let gc: (() => void) | undefined;

export const SCRIPT_HEAP: ScriptHeap = {
  bytes: () => v8.getHeapStatistics().total_heap_size,
  collect: () => {
    if (gc === undefined) {
      // Only contexts that are made after this have the function.
      v8.setFlagsFromString('--expose-gc');
      gc = runInNewContext('gc') as () => void; // V8's own, which takes no arguments.
    }
    gc();
    return v8.getHeapStatistics().used_heap_size;
  },
};

export interface HeapTrimOptions {
  readonly host: Pick<Host, 'trimHeap'>;
  readonly clock: Clock;
  /** The resident memory of this process, in bytes. */
  readonly rss: () => number;
  readonly scriptHeap: ScriptHeap;
}

export class HeapTrim {
  readonly #options: HeapTrimOptions;
  #timer: unknown;
  #left = 0;
  #isOn = false;
  #rss = 0;
  /** The least memory seen. */
  #atRest = Number.POSITIVE_INFINITY;
  /** Bytes of V8's heap at the start, or in use after a collection. */
  #scriptBytes = Number.POSITIVE_INFINITY;
  #collectedAtMs = Number.NEGATIVE_INFINITY;

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
    this.#scriptBytes = this.#options.scriptHeap.bytes();
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
    this.#collect();
    const now = this.rss();
    this.#atRest = Math.min(this.#atRest, now);
    // Again and again: whether it is free by now is not known.
    // Without a thread for it, it is tried at the next look.
    if (now > this.#atRest + GROWTH_BYTES) await host.trimHeap().catch(() => undefined);
    if (--this.#left > 0) this.#lookLater();
    else this.#timer = undefined;
  }

  #collect(): void {
    const { clock, scriptHeap } = this.#options;
    const now = clock.now();
    if (now - this.#collectedAtMs < COLLECT_MS) return;
    if (scriptHeap.bytes() <= SCRIPT_RATIO * this.#scriptBytes + GROWTH_BYTES) return;
    this.#scriptBytes = scriptHeap.collect();
    this.#collectedAtMs = now;
  }
}
