/** Decides when the sampler reads next: its ticks on absolute deadlines, and a slow demand beside them. No timer. */
import type { SlowDemand } from './source.ts';

/** A moment of a reading. */
export interface Wake {
  readonly atMs: number;
  /** A tick for the subscribers; otherwise for the slow demand only. */
  readonly isTick: boolean;
  /** The slow demand, if it is read too. */
  readonly slow: SlowDemand | undefined;
}

const NEVER = Number.POSITIVE_INFINITY;

export class Pace {
  intervalMs: number;
  /** Time of the next tick; Infinity without ticks. */
  tickAtMs = NEVER;
  #slow: SlowDemand | undefined;
  #slowAtMs = NEVER;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  setSlow(slow: SlowDemand | undefined, atMs: number): void {
    this.#slow = slow;
    this.#slowAtMs = slow === undefined ? NEVER : atMs;
  }

  /** Plans the next reading for the slow demand, `inMs` after `nowMs`. */
  planSlow(nowMs: number, inMs: number): void {
    this.#slowAtMs = nowMs + Math.max(1, inMs);
  }

  /** Notes the tick due at `tickAtMs`, which `nowMs` is not before: missed ticks are skipped. */
  tickDone(nowMs: number): void {
    // setTimeout may fire up to a millisecond early; deadlines are absolute, so lateness never adds up.
    const next = this.tickAtMs + this.intervalMs;
    this.tickAtMs =
      next > nowMs ? next : nowMs + this.intervalMs - ((nowMs - this.tickAtMs) % this.intervalMs);
  }

  /** undefined: nothing is demanded. */
  get next(): Wake | undefined {
    const nearMs = Math.min(this.intervalMs, this.#slow?.intervalMs ?? NEVER) / 2;
    // A near tick reads the slow demand too, instead of a second reading.
    if (this.#slowAtMs < this.tickAtMs - nearMs)
      return { atMs: this.#slowAtMs, isTick: false, slow: this.#slow };
    if (this.tickAtMs === NEVER) return undefined;
    const slow = this.#slowAtMs <= this.tickAtMs + nearMs ? this.#slow : undefined;
    return { atMs: this.tickAtMs, isTick: true, slow };
  }
}
