/**
 * An agent's own clock, as far as the hub knows it: a command is sent with a deadline by it, so that one that was held up
 * on its way is never done late, however far apart the clocks are (docs/hub-protocol.md, deadlines).
 */

/** One reading, as it stands in a message of the agent. */
export interface ClockReading {
  readonly run: string;
  /** Milliseconds. */
  readonly clock: number;
}

/** An older reading is not used: the two clocks drift, 100 ppm are 6 ms in this time. */
const MAX_AGE_MS = 60_000;

export class AgentClock {
  #run = '';
  /** The agent's clock minus the hub's; no message arrives before it is sent, so it is never too large. */
  #offsetMs = 0;
  #takenAtMs = Number.NEGATIVE_INFINITY;

  /** A message of the agent has just arrived. `nowMs`: of the hub's clock. */
  take({ run, clock }: ClockReading, nowMs: number): void {
    const offsetMs = clock - nowMs;
    // The largest of the last minute: what took longest on its way says least.
    if (run === this.#run && offsetMs < this.#offsetMs && !this.#isOld(nowMs)) return;
    this.#run = run;
    this.#offsetMs = offsetMs;
    this.#takenAtMs = nowMs;
  }

  forget(): void {
    this.#takenAtMs = Number.NEGATIVE_INFINITY;
  }

  /** A moment of the hub's clock by the agent's; undefined: it is not known. */
  at(momentMs: number, nowMs: number): ClockReading | undefined {
    if (this.#isOld(nowMs)) return undefined;
    return { run: this.#run, clock: Math.floor(momentMs + this.#offsetMs) };
  }

  #isOld(nowMs: number): boolean {
    return nowMs - this.#takenAtMs > MAX_AGE_MS;
  }
}
