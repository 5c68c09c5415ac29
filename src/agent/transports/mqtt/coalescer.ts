/** Runs a task one at a time and not too often: requests during a run are one further run. */
import type { Clock } from '../../../clock.ts';

export interface CoalescerOptions {
  readonly run: () => Promise<void>;
  readonly clock: Clock;
  /** Least time from the end of a run to the beginning of the next. */
  readonly paceMs: number;
  readonly onError: (error: unknown) => void;
}

export class Coalescer {
  readonly #options: CoalescerOptions;
  #isBusy = false;
  #isRequested = false;

  constructor(options: CoalescerOptions) {
    this.#options = options;
  }

  request(): void {
    this.#isRequested = true;
    if (!this.#isBusy) void this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { run, clock, paceMs, onError } = this.#options;
    this.#isBusy = true;
    this.#isRequested = false;
    try {
      await run();
    } catch (error) {
      onError(error);
    }
    clock.setTimer(() => {
      this.#isBusy = false;
      if (this.#isRequested) this.request();
    }, paceMs);
  }
}
