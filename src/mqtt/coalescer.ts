/** Runs a task one at a time and not too often: requests during a run are one further run. */
import type { Clock } from '../clock.ts';
import { Failures, type FailuresOptions } from './failures.ts';

/** The reason of a failed run is reported once, until a run succeeds. */
export interface CoalescerOptions extends FailuresOptions {
  readonly run: () => Promise<void>;
  readonly clock: Clock;
  /** Least time from the end of a run to the beginning of the next. */
  readonly paceMs: number;
}

export class Coalescer {
  readonly #options: CoalescerOptions;
  readonly #failures: Failures;
  #isBusy = false;
  #isRequested = false;

  constructor(options: CoalescerOptions) {
    this.#options = options;
    this.#failures = new Failures(options);
  }

  request(): void {
    this.#isRequested = true;
    if (!this.#isBusy) void this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { run, clock, paceMs } = this.#options;
    this.#isBusy = true;
    this.#isRequested = false;
    try {
      await run();
      this.#failures.succeeded();
    } catch (error) {
      this.#failures.failed(error);
    }
    clock.setTimer(() => {
      this.#isBusy = false;
      if (this.#isRequested) this.request();
    }, paceMs);
  }
}
