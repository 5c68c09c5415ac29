/**
 * Detects that this process was suspended: stopped, or without processor time. Bytes that it reads right after may have
 * waited as long, and nothing says since when: a command among them would be late.
 */
import type { Clock } from '../../clock.ts';

const TICK_MS = 1000;
/** Delay of a tick on a busy machine that was not suspended. */
const BUSY_MS = 2000;
/**
 * Bytes that have waited are read within this time: connections are accepted first, in several turns. It begins again with
 * each pause of a process that gets little processor time, for at most SETTLE_LIMIT_MS.
 */
const SETTLE_MS = 1000;
const SETTLING_TICK_MS = 100;
const SETTLING_PAUSE_MS = 300;
const SETTLE_LIMIT_MS = 15_000;

export class SuspendDetector {
  readonly #clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  #seenAtMs: number;
  #suspendedAtMs = Number.NEGATIVE_INFINITY;
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
    const isSettling = this.#seenAtMs < this.#settledAtMs;
    this.#timer = this.#clock.setTimer(() => this.#tick(), isSettling ? SETTLING_TICK_MS : TICK_MS);
  }

  #look(): void {
    const nowMs = this.#clock.now();
    const pauseMs = nowMs - this.#seenAtMs;
    const wasSettling = this.#seenAtMs < this.#settledAtMs && nowMs - this.#suspendedAtMs < SETTLE_LIMIT_MS;
    if (pauseMs > TICK_MS + BUSY_MS) this.#suspendedAtMs = nowMs;
    if (this.#suspendedAtMs === nowMs || (wasSettling && pauseMs > SETTLING_PAUSE_MS))
      this.#settledAtMs = nowMs + SETTLE_MS;
    this.#seenAtMs = nowMs;
  }
}
