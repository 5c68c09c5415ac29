/**
 * Detects that this process was suspended: stopped, or without processor time. Bytes that it reads right after may have
 * waited as long, and nothing says since when: a command among them would be late.
 */
import type { Clock } from '../../clock.ts';

const TICK_MS = 1000;
/** Delay of a tick on a busy machine that was not suspended. */
const MAX_LATE_MS = 2000;
/** Bytes that have waited are read within this time: connections are accepted first, in several turns. */
const SETTLE_MS = 1000;

export class SuspendDetector {
  readonly #clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  #seenAtMs: number;
  #settledAtMs = Number.NEGATIVE_INFINITY;
  #timer: unknown;

  constructor(clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>) {
    this.#clock = clock;
    this.#seenAtMs = clock.now();
    this.#tick();
  }

  /** Whether a suspension has just ended. */
  get isRecent(): boolean {
    this.#look();
    return this.#clock.now() < this.#settledAtMs;
  }

  close(): void {
    this.#clock.clearTimer(this.#timer);
  }

  #tick(): void {
    this.#look();
    this.#timer = this.#clock.setTimer(() => this.#tick(), TICK_MS);
  }

  #look(): void {
    const nowMs = this.#clock.now();
    if (nowMs - this.#seenAtMs > TICK_MS + MAX_LATE_MS) this.#settledAtMs = nowMs + SETTLE_MS;
    this.#seenAtMs = nowMs;
  }
}
