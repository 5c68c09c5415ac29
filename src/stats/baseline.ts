/** Earlier readings, with which the next one is compared. Pure. */
import type { DetailCounters } from '../host/details.ts';
import type {
  CoreTimes,
  Counters,
  CpuCounters,
  DiskCounters,
  EnergyCounters,
  InterfaceCounters,
} from '../host/host.ts';
import { advanceTotals, type NetworkTotals, NO_TOTALS } from './network-totals.ts';

/** The last reading of one section. */
export interface Reading<T> {
  readonly counters: T;
  readonly takenAtNs: number;
  /** Boot time minus monotonic time: increases by exactly the time that the machine was suspended. */
  readonly suspendedNs: number;
}

/** Earlier readings, per section: reading one section never loses another's. */
export interface Baseline {
  readonly cpu: Reading<CpuCounters> | undefined;
  /** From readings with detail only, like `energy` and `disks`: others must not make the next rates unknown. */
  readonly cores: Reading<readonly CoreTimes[]> | undefined;
  readonly energy: Reading<EnergyCounters> | undefined;
  readonly disks: Reading<readonly DiskCounters[]> | undefined;
  readonly network: Reading<readonly InterfaceCounters[]> | undefined;
  readonly details: Reading<DetailCounters> | undefined;
  readonly totals: NetworkTotals;
}

export const NO_BASELINE: Baseline = {
  cpu: undefined,
  cores: undefined,
  energy: undefined,
  disks: undefined,
  network: undefined,
  details: undefined,
  totals: NO_TOTALS,
};

const NS_PER_SECOND = 1e9;

// Below a millisecond a rate is noise; across a suspend it is a spike, or wrong.
export function secondsBetween(
  before: Reading<unknown> | undefined,
  counters: Counters,
  takenAtNs = counters.takenAtNs,
): number {
  if (before === undefined) return 0;
  const slept = suspendedNs(counters) - before.suspendedNs;
  const elapsed = takenAtNs - before.takenAtNs;
  return slept > NS_PER_SECOND || elapsed < 1e6 ? 0 : elapsed / NS_PER_SECOND;
}

const suspendedNs = (counters: Counters) => counters.sinceBootNs - counters.takenAtNs;

export function readingOf<T>(counters: Counters, value: T, takenAtNs = counters.takenAtNs): Reading<T> {
  return { counters: value, takenAtNs, suspendedNs: suspendedNs(counters) };
}

/** Returns `before`, with the sections of `counters` replaced. */
export function advanceBaseline(before: Baseline, counters: Counters, withDetail: boolean): Baseline {
  const { cpu, disks, network } = counters;
  return {
    cpu: cpu ? readingOf(counters, cpu) : before.cpu,
    cores: cpu?.cores ? readingOf(counters, cpu.cores) : before.cores,
    energy: cpu?.energy ? readingOf(counters, cpu.energy) : before.energy,
    disks: disks && withDetail ? readingOf(counters, disks) : before.disks,
    network: network ? readingOf(counters, network, counters.networkTakenAtNs) : before.network,
    details: withDetail ? readingOf(counters, counters) : before.details,
    totals: network ? advanceTotals(before.totals, network) : before.totals,
  };
}

/**
 * Returns the seconds awake that the loads and rates of a sample cover, in the section with the shortest window; null
 * if nothing is compared.
 */
export function windowSeconds(before: Baseline, counters: Counters): number | null {
  const { cpu, disks, network, takenAtNs } = counters;
  const begins = [
    cpu && before.cpu,
    cpu?.cores && before.cores,
    disks && before.disks,
    network && before.network,
  ].flatMap((reading) => (reading ? [reading.takenAtNs] : []));
  if (begins.length === 0) return null;
  return Math.max(0, Math.round((takenAtNs - Math.max(...begins)) / (NS_PER_SECOND / 100)) / 100);
}
