/** Samples without sections, for tests that tell them apart and need their length. */
import type { Sample } from '#src/stats/sample.js';
import { Encoded } from '#src/stats/view.js';

/** A sample with `number` as its timestamp, about `bytes` long with detail, which are `fill`. */
export function encodedOf(number: number, bytes = 0, fill = 'x'): Encoded {
  const sample: Sample = {
    timestamp: number,
    uptime: 0,
    // Its other keys do not matter here.
    extras: { interval_seconds: 1, host: fill.repeat(bytes / fill.length) } as Sample['extras'] & object,
    cpu: undefined,
    memory: undefined,
    gpu: undefined,
    disks: undefined,
    network: undefined,
    counters: { takenAtNs: 0, sinceBootNs: 0, unixMs: 0 },
  };
  return new Encoded(sample);
}
