/** A source of samples that only counts the subscribers of each view. */
import type { Demand } from '#src/stats/source.js';
import type { View } from '#src/stats/view.js';

export class FakeDemand implements Demand {
  /** Number of subscribers by view; a view that all of them have left stays with 0. */
  readonly counts = new Map<View, number>();
  size = 0;
  maxSize = 0;

  subscribe(view: View): void {
    this.#change(view, 1);
  }

  unsubscribe(view: View): void {
    this.#change(view, -1);
  }

  #change(view: View, change: number): void {
    this.counts.set(view, (this.counts.get(view) ?? 0) + change);
    this.size += change;
    this.maxSize = Math.max(this.maxSize, this.size);
  }
}
