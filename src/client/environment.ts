/** The client's access to time, randomness and the network. Tests replace it. */

export interface Environment {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly fetch: typeof fetch;
  readonly timing: {
    /** Maximum delay before the first new attempt; each further attempt doubles it. */
    readonly initialDelayMs: number;
    readonly maxDelayMs: number;
    /** After a connection that lasted this long, the delays start again with the initial one. */
    readonly healthyMs: number;
    /** Time limit for connecting. */
    readonly connectMs: number;
    /** Interval at which a connection is checked for silence. */
    readonly tickMs: number;
  };
}

export const ENVIRONMENT: Environment = {
  now: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // Callers pass only what setTimer returned.
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout> | undefined),
  random: () => Math.random(),
  // Looked up at each call, so that a later replacement takes effect.
  fetch: (...request) => fetch(...request),
  // The service sends at least a comment every 15 s.
  timing: {
    initialDelayMs: 250,
    maxDelayMs: 10_000,
    healthyMs: 5000,
    connectMs: 10_000,
    tickMs: 15_000,
  },
};

/** Calls `onAbort` when `signal` is aborted; returns a function that stops listening. */
export function onAborted(signal: AbortSignal | undefined, onAbort: () => void): () => void {
  signal?.addEventListener('abort', onAbort);
  return () => signal?.removeEventListener('abort', onAbort);
}

/** Calls a listener of the application. An error that it throws is reported as uncaught, and stops nothing here. */
export function callOut<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
