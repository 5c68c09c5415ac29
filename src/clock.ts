/** Time, so that tests can own it. */

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}
