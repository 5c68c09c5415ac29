/** A machine whose samples the test publishes. */
import type { View } from '#src/stats/view.js';
import type { MachineSample, MachineSamples, MachineSink, MachineSubscription } from '#src/streams/sample.js';

export class FakeSource implements MachineSamples {
  readonly #sinks = new Map<object, MachineSink | undefined>();
  /** Subscriptions by view; a view that all of them have left stays with 0. */
  readonly counts = new Map<View, number>();
  /** The most subscriptions at a time. */
  maxSize = 0;

  /** Subscriptions. */
  get size(): number {
    return this.#sinks.size;
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    const key = {};
    this.#sinks.set(key, sink);
    this.#count(view, 1);
    return {
      newest: () => undefined,
      end: () => {
        if (this.#sinks.delete(key)) this.#count(view, -1);
      },
    };
  }

  publish(sample: MachineSample): void {
    for (const sink of this.#sinks.values()) sink?.publish(sample);
  }

  #count(view: View, change: number): void {
    this.counts.set(view, (this.counts.get(view) ?? 0) + change);
    this.maxSize = Math.max(this.maxSize, this.size);
  }
}
