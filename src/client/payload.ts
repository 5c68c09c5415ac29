/** The type of a sample by the sections it was requested with, with or without detail. */
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

interface PlainSections {
  readonly cpu: CpuStats;
  readonly memory: MemoryStats;
  /** null: the machine has no GPU. */
  readonly gpu: GpuStats | null;
  readonly disks: readonly DiskStats[];
  readonly network: NetworkStats;
}

export type Section = keyof PlainSections;

interface DetailSections {
  readonly cpu: CpuDetail;
  readonly memory: MemoryDetail;
  readonly gpu: GpuDetail | null;
  readonly disks: readonly DiskDetail[];
  readonly network: NetworkDetail;
}

/** Any section may be absent: one that the service cannot read at the moment is left out. */
export type StatsPayload<S extends Section = Section, D extends boolean = false> = {
  /** Unix seconds. */
  readonly timestamp: number;
  /** Seconds since boot. */
  readonly uptime: number;
} & Partial<Pick<D extends true ? DetailSections : PlainSections, S>> &
  (D extends true ? DetailExtras : unknown);
