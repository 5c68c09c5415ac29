/** The interfaces of the sampler: demand and its samples, and what takes them. */
import type { Needs } from './needs.ts';
import type { Encoded, View } from './view.ts';

export interface SampleSource {
  /** Adds a subscriber of `view`, which is read while it has any; the first one starts the clock. */
  subscribe(view: View): void;
  /** Removes a subscriber of `view`; the last one stops the clock. */
  unsubscribe(view: View): void;
  /** Milliseconds from one tick to the next; a reload may change it. */
  readonly intervalMs: number;
  /** Returns the latest sample with everything needed, if it was requested less than 0.9 s ago. */
  peek(needs: Needs): Encoded | undefined;
  /** Like `peek`, otherwise takes a sample now. Rejects when the host cannot be read. */
  latest(needs: Needs): Promise<Encoded>;
}

export interface SampleSink {
  /** Demanded while the sink is attached; absent if the sink adds its own subscribers to the source's demand. */
  readonly view?: View;
  /** Takes the sample of each tick. Must not throw or wait: all sinks are served in one turn. */
  publish(encoded: Encoded): void;
}

/**
 * A demand for readings at a slow pace, with or without subscribers. A near tick reads this as well; otherwise it has a
 * reading of its own, which is not sent to sinks.
 */
export interface SlowDemand {
  readonly needs: Needs;
  /** Milliseconds from one reading to the next; within half of it a tick is near. */
  readonly intervalMs: number;
  /** Milliseconds to the next reading from one that was taken at `unixMs`. */
  nextInMs(unixMs: number): number;
  /** Takes the sample of a reading of its own. Must not throw or wait. */
  publish(encoded: Encoded): void;
}
