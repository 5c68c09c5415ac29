/** Time as an object, so that tests can own it. */

export interface Clock {
  /** Monotonic milliseconds awake: suspended time is not counted, as timers do not count it. For intervals. */
  readonly now: () => number;
  /** Monotonic milliseconds since boot, suspended time included. For the age of what is shown. */
  readonly sinceBoot: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

/** Real time. Node has no clock that counts suspended time: `sinceBoot` is the machine's. */
export const systemClock = (sinceBoot: () => number): Clock => ({
  now: () => performance.now(),
  sinceBoot,
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // Only handles that setTimer returned are ever passed.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
});

/** Runs `slice` in a later turn of the event loop, after requests that are waiting. */
export type Defer = (slice: () => void) => void;

export const deferToNextTurn: Defer = (slice) => void setImmediate(slice);
