/** The two sides of the sampler: demand goes in, the samples of its ticks come out. */
import type { Needs } from './needs.ts';
import type { Encoded, View } from './view.ts';

/** How many subscribers want each view; what nobody wants is not read. */
export interface Demand {
  /** One more subscriber of `view`; the first of all starts the clock. */
  subscribe(view: View): void;
  /** One subscriber of `view` less; the last of all stops the clock. */
  unsubscribe(view: View): void;
}

export interface SampleSource extends Demand {
  /** Milliseconds from one tick to the next; a reload may change it. */
  readonly intervalMs: number;
  /** The latest sample that has what is needed, if it was asked for less than 0.9 s ago. */
  peek(needs: Needs): Encoded | undefined;
  /** As `peek`, otherwise a sample taken now. Rejects when the host cannot be read. */
  latest(needs: Needs): Promise<Encoded>;
}

export interface SampleSink {
  /** Demanded while the sink is attached; absent where the sink counts its own subscribers in the source's demand. */
  readonly view?: View;
  /** Takes the sample of each tick. Must not throw or wait: all sinks are served in one turn. */
  publish(encoded: Encoded): void;
}

/**
 * A demand for readings at a slow pace, with or without subscribers. Where a tick is near it reads this as well;
 * otherwise there is a reading of its own, which no sink is sent.
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
