/** What /api/system answers. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { batteryDetail } from './details.ts';
import { powerCapabilities } from './power.ts';
import { processCapabilities } from './process.ts';
import { bytes, count, gigahertz, known, mib, type Shape, unixSeconds } from './quantities.ts';
import { gpuDevice, interfaceDetail } from './sample.ts';

export const system = v.strictObject({
  hostname: v.string(),
  platform: v.pipe(v.string(), v.description('linux, win32 or darwin.')),
  os: v.strictObject({ name: v.string(), version: v.string(), build: v.string(), arch: v.string() }),
  cpu: v.strictObject({
    manufacturer: v.string(),
    brand: v.string(),
    cores: count,
    physical_cores: count,
    base_speed: known(gigahertz),
  }),
  gpu: v.nullable(v.strictObject({ manufacturer: v.string(), brand: v.string(), memory_total: known(mib) })),
  memory: v.strictObject({ total: bytes, slots: known(count) }),
  disks: v.array(
    v.strictObject({
      fs: v.pipe(v.string(), v.description('The mount point; `C:` on Windows.')),
      type: known(v.string()),
      size: known(bytes),
      mount: v.string(),
    }),
  ),
  network: v.pipe(
    v.nullable(
      v.strictObject({
        name: v.string(),
        mac: known(v.string()),
        ipv4: known(v.string()),
        ipv6: known(v.string()),
      }),
    ),
    v.description('The interface that the way out leads through.'),
  ),
});
export type SystemPayload = Shape<typeof system>;

const capabilities = v.strictObject({
  power: powerCapabilities,
  media: capability,
  processes: processCapabilities,
});
export type Capabilities = Shape<typeof capabilities>;

/** With what `detail=1` adds. */
export const systemDetail = v.strictObject({
  ...system.entries,
  gpus: v.array(gpuDevice),
  interfaces: v.array(interfaceDetail),
  batteries: v.array(batteryDetail),
  boot_time: unixSeconds,
  service: v.strictObject({
    version: v.string(),
    pid: count,
    started_at: unixSeconds,
    node: v.string(),
  }),
  capabilities,
});
export type SystemDetail = Shape<typeof systemDetail>;
