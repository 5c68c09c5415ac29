/** The power of the processor's packages, from two readings of their energy counters. */
import type { EnergyCounters, EnergyZone } from '../host/host.ts';
import { oneDecimal } from './round.ts';

/** Minimum window: the counters are updated about every millisecond, so their steps would show. */
const MIN_SECONDS = 0.02;
/** Maximum power: a counter that implies more was reset, or has wrapped more than once. */
const MAX_WATTS = 1000;

function wattsOf(before: EnergyZone, after: EnergyZone, seconds: number): number | null {
  const range = after.rangeMicrojoules;
  // It may have wrapped more than once.
  if (seconds * MAX_WATTS * 1e6 > range) return null;
  const grown = after.microjoules - before.microjoules;
  const watts = (grown < 0 ? grown + range : grown) / 1e6 / seconds;
  return watts >= 0 && watts <= MAX_WATTS ? watts : null;
}

/** Returns the power of all packages together, in W; null if one of them is unknown. */
export function deriveWatts(
  before: EnergyCounters | undefined,
  after: EnergyCounters | null | undefined,
): number | null {
  if (!before || !after || after.failure !== null || after.zones.length === 0) return null;
  const seconds = (after.takenAtNs - before.takenAtNs) / 1e9;
  if (seconds < MIN_SECONDS) return null;
  let sum = 0;
  for (const zone of after.zones) {
    const same = before.zones.find(({ name }) => name === zone.name);
    const watts = same ? wattsOf(same, zone, seconds) : null;
    if (watts === null) return null;
    sum += watts;
  }
  return oneDecimal(sum);
}
