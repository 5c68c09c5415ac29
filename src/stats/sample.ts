/** Derives a sample from two readings: Baseline × Counters → Sample. Pure: the caller owns time and state. */
import { wholeSeconds } from '../clock.ts';
import type { Counters } from '../host/host.ts';
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
import { advanceBaseline, type Baseline, secondsBetween, windowSeconds } from './baseline.ts';
import { deriveCpuDetail, deriveCpuStats } from './cpu.ts';
import type { SampleFacts } from './detail-row.ts';
import { deriveExtras } from './details.ts';
import { deriveDiskDetail, deriveDiskStats } from './disks.ts';
import { deriveGpuDetail, deriveGpuStats } from './gpu.ts';
import { deriveMemoryDetail, deriveMemoryStats } from './memory.ts';
import { deriveNetworkDetail, deriveNetworkStats } from './network.ts';

/** A section as it is sent by default, and with detail if that was read. */
export interface Derived<Stats, Detail> {
  readonly stats: Stats;
  readonly detail: Detail | undefined;
}

/** Immutable. A section that was not requested is undefined. */
export interface Sample {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Seconds since the machine was started, or its container. */
  readonly uptime: number;
  /** The details beside the sections. */
  readonly extras: DetailExtras | undefined;
  readonly cpu: Derived<CpuStats, CpuDetail> | undefined;
  readonly memory: Derived<MemoryStats, MemoryDetail> | undefined;
  readonly gpu: Derived<GpuStats | null, GpuDetail | null> | undefined;
  readonly disks: Derived<readonly DiskStats[], readonly DiskDetail[]> | undefined;
  readonly network: Derived<NetworkStats, NetworkDetail> | undefined;
  /** The reading itself, to export raw numbers. */
  readonly counters: Counters;
}

/**
 * Returns the sample of `counters` against `before`, and the baseline for the next one. With `facts`, every section is
 * derived in both forms and the sample has `extras`.
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
  // Across a suspend the packages' counters may have restarted.
  const energyBefore = secondsBetween(before.energy, counters) > 0 ? before.energy?.counters : undefined;
  const sample: Sample = {
    timestamp: wholeSeconds(counters.unixMs),
    uptime: Math.floor((counters.uptimeNs ?? counters.sinceBootNs) / 1e9),
    extras: facts && deriveExtras(facts, counters, before.details?.counters, windowSeconds(before, counters)),
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
    counters,
  };
  return { sample, baseline };
}
