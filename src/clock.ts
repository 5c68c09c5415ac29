/** Time as an object, so that tests can own it. */

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

/** Real time. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // Only handles that setTimer returned are ever passed.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** Runs `slice` in a later turn of the event loop, after requests that are waiting. */
export type Defer = (slice: () => void) => void;

export const deferToNextTurn: Defer = (slice) => void setImmediate(slice);
