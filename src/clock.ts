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

/** Nothing is ever stored in it. */
const word = new Int32Array(new SharedArrayBuffer(4));
let waiting: (() => void)[] = [];

function runWaiting(): void {
  const slices = waiting;
  waiting = [];
  for (const slice of slices)
    try {
      slice();
    } catch (error) {
      // Here it would be the rejection of a promise, and the slices after it would be lost.
      setImmediate(() => {
        throw error;
      });
    }
}

/**
 * Runs while the event loop polls, where Node runs the tasks of V8, such as the end of a wait. Not `setImmediate`: that
 * comes after uWebSockets.js has freed the connections that were closed in a turn, and it never frees one that is closed
 * between that and the end of the turn (464 bytes each). A MessageChannel would do too, for 0.9 MiB and 2 ms of the start.
 */
export const deferToNextTurn: Defer = (slice) => {
  if (waiting.push(slice) > 1) return;
  const { value } = Atomics.waitAsync(word, 0, 0);
  void Promise.resolve(value).then(runWaiting);
  Atomics.notify(word, 0);
};
