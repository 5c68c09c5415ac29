/** Reports the reason of a failure once, until an attempt succeeds. */
import { messageOf } from '../errors.ts';

export interface FailuresOptions {
  /** Whether failures are of interest: those after the end of a connection are not. */
  readonly isActive: () => boolean;
  readonly onFailure: (reason: string) => void;
}

export class Failures {
  readonly #options: FailuresOptions;
  #reason: string | undefined;

  constructor(options: FailuresOptions) {
    this.#options = options;
  }

  succeeded(): void {
    this.#reason = undefined;
  }

  failed(error: unknown): void {
    const { isActive, onFailure } = this.#options;
    const reason = messageOf(error);
    if (!isActive() || reason === this.#reason) return;
    this.#reason = reason;
    onFailure(reason);
  }
}
