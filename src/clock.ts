/** Time, so that tests can own it. */

export interface Clock {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
}

/** Time as it is. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // What setTimer returned: the only handles that ever come here.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};
