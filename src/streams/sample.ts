/** The samples of a machine as its subscribers see them. */
import type { View } from '../stats/view.ts';

/** A sample as bytes, which all who want the same view share: of this machine (Encoded), or of another one (HostSample). */
export interface MachineSample {
  /** `data: <JSON>\n\n`. */
  event(view: View): Buffer;
  /** The JSON alone. */
  payload(view: View): Buffer;
}

/** A subscriber of one view. Must not throw or wait. */
export interface MachineSink {
  /** Takes a sample that has the view. */
  publish(sample: MachineSample): void;
  /** The machine is gone for now: nothing of its newest sample is to be kept. */
  forget(): void;
  /** The machine is no longer shown: no sample follows. */
  close(): void;
}

export interface MachineSubscription {
  /**
   * Returns the current sample, or undefined if none covers the view yet: the next one does. A promise rejects only if
   * something is broken.
   */
  newest(): MachineSample | undefined | Promise<MachineSample>;
  end(): void;
}

export interface MachineSamples {
  /** Has samples with `view` made, and sends them to `sink`, if there is one. */
  subscribe(view: View, sink?: MachineSink): MachineSubscription;
}
