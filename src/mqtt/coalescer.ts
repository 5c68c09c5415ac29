/** Runs a task one at a time and not too often: requests during a run are one further run. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';

export interface CoalescerOptions {
  readonly run: () => Promise<void>;
  readonly clock: Clock;
  /** Least time from the end of a run to the beginning of the next. */
  readonly paceMs: number;
  /** Whether failures are of interest: those after the end of a connection are not. */
  readonly isActive: () => boolean;
  /** Gets the reason of a failed run once, until a run succeeds. */
  readonly onFailure: (reason: string) => void;
}

export class Coalescer {
  readonly #options: CoalescerOptions;
  /** The reason that was reported last. */
  #failure: string | undefined;
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
    const { run, clock, paceMs, isActive, onFailure } = this.#options;
    this.#isBusy = true;
    this.#isRequested = false;
    try {
      await run();
      this.#failure = undefined;
    } catch (error) {
      const reason = messageOf(error);
      if (isActive() && reason !== this.#failure) {
        this.#failure = reason;
        onFailure(reason);
      }
    }
    clock.setTimer(() => {
      this.#isBusy = false;
      if (this.#isRequested) this.request();
    }, paceMs);
  }
}
