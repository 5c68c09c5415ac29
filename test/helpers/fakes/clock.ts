/** A clock that stands still until a test moves it. */
import type { Clock } from '#src/clock.js';

interface Timer {
  readonly fire: () => void;
  readonly atMs: number;
}

/** Runs the callbacks of all settled promises, and of those that settle as a result. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class FakeClock implements Clock {
  #now = 1000;
  #suspendedMs = 0;
  readonly #timers = new Set<Timer>();

  readonly now = () => this.#now;

  readonly sinceBoot = () => this.#now + this.#suspendedMs;

  readonly setTimer = (fire: () => void, delayMs: number): unknown => {
    const timer = { fire, atMs: this.#now + delayMs };
    this.#timers.add(timer);
    return timer;
  };

  readonly clearTimer = (timer: unknown): void => {
    // Only what setTimer returned is ever in the set.
    this.#timers.delete(timer as Timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  /** The machine sleeps for `ms`, during which no timer runs. */
  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }

  /** Advances by `ms` and fires the timers that fall due, in order, each at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.atMs <= end).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.atMs;
      next.fire();
      await settle();
    }
    this.#now = end;
  }
}
