/** The shape of a sample as a subscriber of some sections, with or without detail, receives it. */
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

export type Section = 'cpu' | 'memory' | 'gpu' | 'disks' | 'network';

interface PlainSections {
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
  /** null: there is no GPU. */
  readonly gpu: GpuStats | null;
  readonly disks: readonly DiskStats[];
  readonly network: NetworkStats;
}

interface DetailSections {
  readonly cpu: CpuDetail;
  readonly memory: MemoryDetail;
  readonly gpu: GpuDetail | null;
  readonly disks: readonly DiskDetail[];
  readonly network: NetworkDetail;
}

/** Any section may be absent: one that the machine cannot read right now is left out. */
export type StatsPayload<S extends Section = Section, D extends boolean = false> = {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Seconds since boot. */
  readonly uptime: number;
} & Partial<Pick<D extends true ? DetailSections : PlainSections, S>> &
  (D extends true ? DetailExtras : unknown);
