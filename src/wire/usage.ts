/** The payload of a stream message and of /api/usage: the sections of a sample, and what `detail` says beside them. */
import * as v from 'valibot';
import { details } from './details.ts';
import { type Shape, seconds, unixSeconds, whole } from './quantities.ts';
import {
  cpuDetail,
  cpuStats,
  diskDetail,
  diskStats,
  gpuDetail,
  gpuStats,
  memoryDetail,
  memoryStats,
  networkDetail,
  networkStats,
} from './sample.ts';

/** What `detail` adds beside the sections. */
const detailExtras = v.strictObject({
  interval_seconds: v.pipe(seconds, v.description('Between two messages of the stream.')),
  host: v.pipe(v.string(), v.description("The machine's name.")),
  ...details.entries,
});
export type DetailExtras = Shape<typeof detailExtras>;

const everySample = {
  timestamp: unixSeconds,
  uptime: v.pipe(whole, v.description('Seconds since boot.')),
};

const GPU = 'null: the machine has none.';

/** Sections that were not asked for, or could not be read, are left out. */
export const usage = v.strictObject({
  ...everySample,
  cpu: v.exactOptional(cpuStats),
  memory: v.exactOptional(memoryStats),
  gpu: v.pipe(v.exactOptional(v.nullable(gpuStats)), v.description(GPU)),
  disks: v.pipe(v.exactOptional(v.array(diskStats)), v.description('One entry per mount point.')),
  network: v.exactOptional(networkStats),
});
export type Usage = Shape<typeof usage>;

/** The same with `detail`. */
export const usageDetail = v.strictObject({
  ...everySample,
  ...detailExtras.entries,
  cpu: v.exactOptional(cpuDetail),
  memory: v.exactOptional(memoryDetail),
  gpu: v.pipe(v.exactOptional(v.nullable(gpuDetail)), v.description(GPU)),
  disks: v.exactOptional(v.array(diskDetail)),
  network: v.exactOptional(networkDetail),
});
export type UsageDetail = Shape<typeof usageDetail>;
