/** What the page is told: the service's own types, in the form that `detail=1` has. */

import type { MediaCapability } from '../src/wire/media.ts';
import type { PowerCapability } from '../src/wire/power.ts';
import type { ProcessCapabilities } from '../src/wire/process.ts';
import type {
  CpuDetail,
  DiskDetail,
  GpuDetail,
  MemoryDetail,
  NetworkDetail,
  TopDetail,
} from '../src/wire/sample.ts';
import type { SystemPayload } from '../src/wire/system.ts';

export interface Sample extends TopDetail {
  /** Unix seconds. */
  readonly timestamp: number;
  readonly uptime: number;
  readonly cpu: CpuDetail;
  readonly memory: MemoryDetail;
  readonly gpu: GpuDetail | null;
  readonly disks: readonly DiskDetail[];
  readonly network: NetworkDetail;
}

export interface System extends Omit<SystemPayload, 'capabilities'> {
  readonly capabilities: {
    readonly power: Readonly<Record<string, PowerCapability>>;
    readonly media: MediaCapability;
    readonly processes: ProcessCapabilities;
  };
}
