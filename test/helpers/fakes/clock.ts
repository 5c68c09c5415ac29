/** A clock that stands still until a test moves it. */
import type { Clock } from '#src/clock.js';

interface Timer {
  readonly fire: () => void;
  readonly atMs: number;
}

/** Lets every promise that is ready run, and those that become ready by it. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class FakeClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<Timer>();

  readonly now = () => this.#now;

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

  /** Moves on by `ms`, firing what falls due in its order, each at its own time. */
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
