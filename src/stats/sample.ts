/** Two readings of the counters make a sample: Baseline × Counters → Sample. Pure: the caller owns time and state. */
import type { DetailCounters } from '../host/details.ts';
import type {
  CoreTimes,
  Counters,
  CpuCounters,
  DiskCounters,
  EnergyCounters,
  InterfaceCounters,
} from '../host/host.ts';
import type {
  CpuDetail,
  CpuStats,
  DiskDetail,
  DiskStats,
  GpuDetail,
  GpuStats,
  MemoryDetail,
  MemoryStats,
  NetworkDetail,
  NetworkStats,
} from '../wire/sample.ts';
import type { DetailExtras } from '../wire/usage.ts';
import { deriveCpuDetail, deriveCpuStats } from './cpu.ts';
import type { SampleFacts } from './detail-row.ts';
import { deriveExtras } from './details.ts';
import { deriveDiskDetail, deriveDiskStats } from './disks.ts';
import { deriveGpuDetail, deriveGpuStats } from './gpu.ts';
import { deriveMemoryDetail, deriveMemoryStats } from './memory.ts';
import { deriveNetworkDetail, deriveNetworkStats } from './network.ts';
import { advanceTotals, type NetworkTotals, NO_TOTALS } from './network-totals.ts';

/** A section as it is sent by default, and with detail where that was read. */
export interface Derived<Stats, Detail> {
  readonly stats: Stats;
  readonly detail: Detail | undefined;
}

/** Immutable. A section that was not asked for is undefined. */
export interface Sample {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Seconds since boot. */
  readonly uptime: number;
  /** What detail adds beside the sections. */
  readonly extras: DetailExtras | undefined;
  readonly cpu: Derived<CpuStats, CpuDetail> | undefined;
  readonly memory: Derived<MemoryStats, MemoryDetail> | undefined;
  readonly gpu: Derived<GpuStats | null, GpuDetail | null> | undefined;
  readonly disks: Derived<readonly DiskStats[], readonly DiskDetail[]> | undefined;
  readonly network: Derived<NetworkStats, NetworkDetail> | undefined;
}

/** One section's last reading. */
interface Reading<T> {
  readonly counters: T;
  readonly takenAtNs: number;
  /** Boot time minus monotonic time: grows by exactly the time that the machine was suspended. */
  readonly suspendedNs: number;
}

/** What is kept of earlier readings, per section: reading one section never loses another's. */
export interface Baseline {
  readonly cpu: Reading<CpuCounters> | undefined;
  /** From readings with detail only, like `energy` and `disks`: one without must not make the next rates unknown. */
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
function secondsBetween(
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

function readingOf<T>(counters: Counters, value: T, takenAtNs = counters.takenAtNs): Reading<T> {
  return { counters: value, takenAtNs, suspendedNs: suspendedNs(counters) };
}

/** `before`, with the sections that `counters` has in their place. */
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

export type BaselineField = Exclude<keyof Baseline, 'totals'>;

/** The totals of `fresh`, because they must never go back, and its readings that `takes` selects; the others of `kept`. */
export function mergeBaselines(
  kept: Baseline,
  fresh: Baseline,
  takes: (field: BaselineField) => boolean,
): Baseline {
  return {
    cpu: (takes('cpu') ? fresh : kept).cpu,
    cores: (takes('cores') ? fresh : kept).cores,
    energy: (takes('energy') ? fresh : kept).energy,
    disks: (takes('disks') ? fresh : kept).disks,
    network: (takes('network') ? fresh : kept).network,
    details: (takes('details') ? fresh : kept).details,
    totals: fresh.totals,
  };
}

/**
 * The sample of `counters` against `before`, and the baseline for the next one. With `facts`, every section is derived in
 * both forms and the sample has `extras`.
 */
export function deriveSample(
  before: Baseline,
  counters: Counters,
  facts?: SampleFacts,
): { readonly sample: Sample; readonly baseline: Baseline } {
  const withDetail = facts !== undefined;
  const baseline = advanceBaseline(before, counters, withDetail);
  const { cpu, memory, gpu, disks, network } = counters;
  const section = <Stats, Detail>(stats: Stats, detail: () => Detail): Derived<Stats, Detail> => ({
    stats,
    detail: withDetail ? detail() : undefined,
  });
  const { totals } = baseline;
  // Across a suspend the packages' counters may have begun again.
  const energyBefore = secondsBetween(before.energy, counters) > 0 ? before.energy?.counters : undefined;
  const sample: Sample = {
    timestamp: Math.floor(counters.unixMs / 1000),
    uptime: Math.floor(counters.sinceBootNs / NS_PER_SECOND),
    extras: facts && deriveExtras(facts, counters, before.details?.counters),
    cpu:
      cpu === undefined
        ? undefined
        : section(deriveCpuStats(before.cpu?.counters, cpu), () =>
            deriveCpuDetail(before.cpu?.counters, before.cores?.counters, cpu, energyBefore),
          ),
    memory:
      memory === undefined ? undefined : section(deriveMemoryStats(memory), () => deriveMemoryDetail(memory)),
    gpu: gpu === undefined ? undefined : section(deriveGpuStats(gpu), () => deriveGpuDetail(gpu)),
    disks:
      disks === undefined
        ? undefined
        : section(deriveDiskStats(disks), () =>
            deriveDiskDetail(before.disks?.counters, disks, secondsBetween(before.disks, counters)),
          ),
    network:
      network === undefined
        ? undefined
        : section(deriveNetworkStats(totals), () =>
            deriveNetworkDetail(
              before.network?.counters,
              network,
              totals,
              secondsBetween(before.network, counters, counters.networkTakenAtNs),
            ),
          ),
  };
  return { sample, baseline };
}
