/** The delay before the next attempt: short at first, doubling, and randomised so that clients do not come in step. */
import type { Environment } from './environment.ts';

/** Longest delay that a service or a proxy may ask for. */
const MAX_ASKED_MS = 300_000;

export class Backoff {
  readonly #environment: Environment;
  #failures = 0;
  #openedAtMs: number | undefined;
  /** The minimum delay that the stream's `retry` field asks for. */
  atLeastMs = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  opened(): void {
    this.#openedAtMs = this.#environment.now();
  }

  /** The delay before the next attempt: half to all of the current step, and at least `askedMs` plus up to a quarter. */
  next(askedMs = 0): number {
    const { now, random, timing } = this.#environment;
    if (this.#openedAtMs !== undefined && now() - this.#openedAtMs >= timing.healthyMs) this.#failures = 0;
    this.#openedAtMs = undefined;
    const step = Math.min(timing.maxDelayMs, timing.initialDelayMs * 2 ** this.#failures++);
    const asked = Math.min(MAX_ASKED_MS, Math.max(askedMs, this.atLeastMs));
    return Math.max(step * (1 - random() / 2), asked * (1 + random() / 4));
  }
}
