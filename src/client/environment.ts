/** What the client takes from its surroundings: time, chance and the network. Tests bring their own. */

export interface Timing {
  /** The longest wait before the first new attempt; each further one doubles it. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** A connection that has lasted so long was a good one: the next loss begins again with the first delay. */
  readonly healthyMs: number;
  /** How long a connection may take to be made. */
  readonly connectMs: number;
  /** How often it is looked whether anything has come. */
  readonly tickMs: number;
}

export interface Environment {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly setTimer: (fire: () => void, delayMs: number) => unknown;
  readonly clearTimer: (timer: unknown) => void;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly fetch: typeof fetch;
  readonly timing: Timing;
}

export const ENVIRONMENT: Environment = {
  now: () => performance.now(),
  setTimer: (fire, delayMs) => setTimeout(fire, delayMs),
  // What setTimer returned: the only handles that ever come here.
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout> | undefined),
  random: () => Math.random(),
  // Looked up at each call, so that whoever replaces it later is heard.
  fetch: (...request) => fetch(...request),
  // The service sends at least a comment every 15 s.
  timing: {
    firstDelayMs: 250,
    longestDelayMs: 10_000,
    healthyMs: 5000,
    connectMs: 10_000,
    tickMs: 15_000,
  },
};

/** Calls `onAbort` when `signal` is aborted; returns what lets go of the signal. */
export function heed(signal: AbortSignal | undefined, onAbort: () => void): () => void {
  signal?.addEventListener('abort', onAbort);
  return () => signal?.removeEventListener('abort', onAbort);
}

/** Calls what the application gave; what it throws is the application's: reported as uncaught, and stops nothing here. */
export function callOut<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
