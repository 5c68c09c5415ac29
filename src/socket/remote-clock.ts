/**
 * The clock of a machine, as far as the other side knows it: a command is sent with a deadline by it, so that one that was
 * held up on its way is never done late, however far apart the clocks are.
 */

/** An older reading is not used: the two clocks drift, 100 ppm are 6 ms in this time. */
const FRESH_MS = 60_000;

export class RemoteClock {
  /** The machine's clock minus this one; no message arrives before it is sent, so it is never too large. */
  #offsetMs = 0;
  #takenAtMs = Number.NEGATIVE_INFINITY;

  /** A message with `clock` has just arrived. `nowMs`: of this side's clock. */
  take(clock: number, nowMs: number): void {
    const offsetMs = clock - nowMs;
    // The largest of the last minute: what took longest on its way says least.
    if (offsetMs < this.#offsetMs && !this.#isOld(nowMs)) return;
    this.#offsetMs = offsetMs;
    this.#takenAtMs = nowMs;
  }

  /** A moment of this side's clock by the machine's; undefined: it is not known. */
  at(momentMs: number, nowMs: number): number | undefined {
    return this.#isOld(nowMs) ? undefined : Math.floor(momentMs + this.#offsetMs);
  }

  #isOld(nowMs: number): boolean {
    return nowMs - this.#takenAtMs > FRESH_MS;
  }
}
