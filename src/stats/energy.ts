/** The power of the processor's packages, from two readings of their energy counters. */
import type { EnergyCounters, EnergyZone } from '../host/host.ts';
import { oneDecimal } from './round.ts';

/** The counters are updated about every millisecond; over less than this the step would show. */
const LEAST_SECONDS = 0.02;
/** No package takes more. A counter that would need it to get where it is was reset, or has come round unseen. */
const MOST_WATTS = 1000;

function wattsOf(before: EnergyZone, after: EnergyZone, seconds: number): number | null {
  const range = after.rangeMicrojoules;
  // It may have come round more than once.
  if (seconds * MOST_WATTS * 1e6 > range) return null;
  const grown = after.microjoules - before.microjoules;
  const watts = (grown < 0 ? grown + range : grown) / 1e6 / seconds;
  return watts >= 0 && watts <= MOST_WATTS ? watts : null;
}

/** W of all packages together; null where one of them is unknown. */
export function deriveWatts(
  before: EnergyCounters | undefined,
  after: EnergyCounters | null | undefined,
): number | null {
  if (!before || !after || after.failure !== null || after.zones.length === 0) return null;
  const seconds = (after.takenAtNs - before.takenAtNs) / 1e9;
  if (seconds < LEAST_SECONDS) return null;
  let sum = 0;
  for (const zone of after.zones) {
    const same = before.zones.find(({ name }) => name === zone.name);
    const watts = same ? wattsOf(same, zone, seconds) : null;
    if (watts === null) return null;
    sum += watts;
  }
  return oneDecimal(sum);
}
