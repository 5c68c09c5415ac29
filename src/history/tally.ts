/** Mean, least and greatest of values that come one after the other. */
import type { Summary } from './history.ts';

export class Tally {
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  /** `count`: number of values that `value` is the mean of. */
  add(value: number, min = value, max = value, count = 1): void {
    this.#count += count;
    this.#sum += value * count;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
  }

  /** undefined: without a value. */
  get summary(): Summary | undefined {
    if (this.#count === 0) return undefined;
    return { mean: this.#sum / this.#count, min: this.#min, max: this.#max };
  }
}
