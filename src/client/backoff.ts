/** How long to wait before the next attempt: soon at first, ever later, never in step with other clients. */
import type { Environment } from './environment.ts';

/** What a service or a proxy asks for is believed up to here. */
const LONGEST_ASKED_MS = 300_000;

export class Backoff {
  readonly #environment: Environment;
  #failures = 0;
  #openedAtMs: number | undefined;
  /** What the stream's `retry` field asked for. */
  atLeastMs = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  opened(): void {
    this.#openedAtMs = this.#environment.now();
  }

  /** The wait before the next attempt: at least `askedMs` and a little more, else half to all of the current step. */
  next(askedMs = 0): number {
    const { now, random, timing } = this.#environment;
    if (this.#openedAtMs !== undefined && now() - this.#openedAtMs >= timing.healthyMs) this.#failures = 0;
    this.#openedAtMs = undefined;
    const step = Math.min(timing.longestDelayMs, timing.firstDelayMs * 2 ** this.#failures++);
    const asked = Math.min(LONGEST_ASKED_MS, Math.max(askedMs, this.atLeastMs));
    return Math.max(step * (1 - random() / 2), asked * (1 + random() / 4));
  }
}
