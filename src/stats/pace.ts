/** When the sampler reads next: its ticks on absolute deadlines, and a slow demand beside them. Holds no timer. */
import type { SlowDemand } from './source.ts';

/** A moment at which something is read. */
export interface Wake {
  readonly atMs: number;
  /** For the subscribers; otherwise for the slow demand alone. */
  readonly isTick: boolean;
  /** The slow demand is read then. */
  readonly isSlow: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;

export class Pace {
  intervalMs: number;
  /** Of the next tick; Infinity while there are none. */
  tickAtMs = NEVER;
  #slow: SlowDemand | undefined;
  #slowAtMs = NEVER;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  get slow(): SlowDemand | undefined {
    return this.#slow;
  }

  setSlow(slow: SlowDemand | undefined, atMs: number): void {
    this.#slow = slow;
    this.#slowAtMs = slow === undefined ? NEVER : atMs;
  }

  /** The slow demand was read at `nowMs`, the machine's clock being `unixMs`; undefined: reading failed. */
  slowDone(nowMs: number, unixMs: number | undefined): void {
    if (this.#slow === undefined) return;
    this.#slowAtMs =
      nowMs + (unixMs === undefined ? this.#slow.intervalMs : Math.max(1, this.#slow.nextInMs(unixMs)));
  }

  /** The slow demand is read `inMs` after `nowMs`, and not now. */
  putOffSlow(nowMs: number, inMs: number): void {
    this.#slowAtMs = nowMs + inMs;
  }

  /** The tick was due at `tickAtMs`, and `nowMs` is not before that: missed ticks are skipped. */
  tickDone(nowMs: number): void {
    // setTimeout may fire up to a millisecond early; deadlines are absolute, so lateness never adds up.
    const next = this.tickAtMs + this.intervalMs;
    this.tickAtMs =
      next > nowMs ? next : nowMs + this.intervalMs - ((nowMs - this.tickAtMs) % this.intervalMs);
  }

  /** undefined: nothing is demanded. */
  get next(): Wake | undefined {
    const nearMs = Math.min(this.intervalMs, this.#slow?.intervalMs ?? NEVER) / 2;
    // A tick that is near reads the slow demand too, instead of a second reading.
    if (this.#slowAtMs < this.tickAtMs - nearMs) return { atMs: this.#slowAtMs, isTick: false, isSlow: true };
    if (this.tickAtMs === NEVER) return undefined;
    return { atMs: this.tickAtMs, isTick: true, isSlow: this.#slowAtMs <= this.tickAtMs + nearMs };
  }
}
