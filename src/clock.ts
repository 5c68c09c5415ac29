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

/** Returns the whole seconds in `ms`. */
export const wholeSeconds = (ms: number): number => Math.floor(ms / 1000);

/** Returns what this moment is later, in Unix seconds: another one by the seconds that the clock has been set since. */
export function thisMoment(sinceBoot: () => number, unixMs: () => number = Date.now): () => number {
  const [now, bootMs] = [unixMs(), sinceBoot()];
  return () => wholeSeconds(now) + Math.round((unixMs() - now - (sinceBoot() - bootMs)) / 1000);
}

/** Returns whether `work` has settled after `limitMs` of real time, which is what a disk takes. Rejects if `work` does. */
export async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Clocks with and without suspended time differ by less than this while the machine is awake, in milliseconds. */
const AWAKE_DIFFERENCE_MS = 1000;

/** Detects that the machine has slept since a moment, which is at first that of its construction. */
export class SleepMark {
  readonly #clock: Pick<Clock, 'now' | 'sinceBoot'>;
  #suspendedMs: number;

  constructor(clock: Pick<Clock, 'now' | 'sinceBoot'>) {
    this.#clock = clock;
    this.#suspendedMs = this.#measure();
  }

  /** Moves the moment to now. */
  set(): void {
    this.#suspendedMs = this.#measure();
  }

  get hasSlept(): boolean {
    return this.#measure() - this.#suspendedMs > AWAKE_DIFFERENCE_MS;
  }

  #measure(): number {
    return this.#clock.sinceBoot() - this.#clock.now();
  }
}

/** Runs `slice` in a later turn of the event loop, after requests that are waiting. */
export type Defer = (slice: () => void) => void;

/** Work in short steps, between which other work may run; returns its result. */
export type Steps<T> = Generator<undefined, T>;

/** Takes all steps in this turn. */
export function runNow<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** A request waits for the rest of a slice at most. */
const SLICE_MS = 4;

/** Takes the steps in slices, the first one in this turn. */
export function runInSlices(
  steps: Steps<void>,
  defer: Defer = deferToNextTurn,
  nowMs = () => performance.now(),
): void {
  const endsAt = nowMs() + SLICE_MS;
  do if (steps.next().done === true) return;
  while (nowMs() < endsAt);
  defer(() => runInSlices(steps, defer, nowMs));
}

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
