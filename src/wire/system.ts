/** The payload of /api/system. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { batteryDetail } from './details.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { powerCapabilities } from './power.ts';
import { processCapabilities } from './process.ts';
import { bytes, count, gigahertz, known, mib, type Shape, unixSeconds } from './quantities.ts';
import { gpuDevice, interfaceDetail } from './sample.ts';
import { wakeCapability, wakeOnLan } from './wake.ts';

export const system = v.strictObject({
  hostname: means(v.string(), 'Host name.'),
  platform: means(v.string(), 'linux, win32 or darwin.'),
  os: means(
    v.strictObject({
      name: means(v.string(), 'Distribution or edition.'),
      version: means(v.string(), 'Its version.'),
      build: means(v.string(), 'Kernel release or build number.'),
      arch: means(v.string(), 'Architecture, as Node names it: x64, arm64.'),
    }),
    'The operating system.',
  ),
  cpu: means(
    v.strictObject({
      manufacturer: means(v.string(), 'Manufacturer.'),
      brand: means(v.string(), 'Product name.'),
      cores: means(count, 'Processors that the system sees, threads included.'),
      physical_cores: means(count, 'Cores.'),
      base_speed: means(known(gigahertz), 'Base clock speed.'),
    }),
    'The processor.',
  ),
  gpu: means(
    v.nullable(
      v.strictObject({
        manufacturer: means(v.string(), 'Manufacturer.'),
        brand: means(v.string(), 'Product name.'),
        memory_total: means(known(mib), 'Size of its memory.'),
      }),
    ),
    'The first GPU; null if the machine has none.',
  ),
  memory: means(
    v.strictObject({
      total: means(bytes, 'Memory that the system can use.'),
      slots: means(known(count), 'Memory slots.'),
    }),
    'The memory.',
  ),
  disks: means(
    v.array(
      v.strictObject({
        fs: means(v.string(), 'Mount point; `C:` on Windows.'),
        type: means(known(v.string()), 'Filesystem.'),
        size: means(known(bytes), 'Size of the filesystem.'),
        mount: means(v.string(), 'Same as fs.'),
      }),
    ),
    'One entry per mount point.',
  ),
  network: means(
    v.nullable(
      v.strictObject({
        name: means(v.string(), 'Name in the system.'),
        mac: means(known(v.string()), 'Hardware address.'),
        ipv4: means(known(v.string()), 'First IPv4 address.'),
        ipv6: means(known(v.string()), 'First IPv6 address.'),
      }),
    ),
    'The interface of the default route; null without one.',
  ),
});
export type SystemPayload = Shape<typeof system>;

export const systemInterface = v.strictObject({
  ...interfaceDetail.entries,
  wake_on_lan: means(known(wakeOnLan), 'Whether it can wake this machine; null if unknown.'),
  wake_on_lan_reason: means(
    known(v.string()),
    'Why `wake_on_lan` is null, or is the power setting alone; null where the card itself answered.',
  ),
});
export type SystemInterface = Shape<typeof systemInterface>;

const capabilities = v.strictObject({
  power: powerCapabilities,
  media: capability,
  processes: means(processCapabilities, 'Listing and controlling processes.'),
  wake: means(wakeCapability, 'Waking other machines.'),
});
export type Capabilities = Shape<typeof capabilities>;

/** Includes the keys of `detail=1`. */
export const systemDetail = v.strictObject({
  ...system.entries,
  gpus: means(v.array(gpuDevice), 'Every GPU.'),
  interfaces: means(v.array(systemInterface), 'Every network interface.'),
  batteries: means(v.array(batteryDetail), 'Every battery.'),
  boot_time: means(unixSeconds, 'When the machine was started, as `uptime` counts.'),
  service: means(
    v.strictObject({
      version: means(v.string(), 'Version of hostwire.'),
      pid: means(count, 'Its process number.'),
      started_at: means(unixSeconds, 'When it was started, by the present clock.'),
      node: means(v.string(), 'Version of Node.'),
    }),
    'This service.',
  ),
  capabilities: means(capabilities, 'Which commands work here, and why others do not.'),
});
export type SystemDetail = Shape<typeof systemDetail>;

export const SYSTEM_DOCS: DocsOf<'getSystem'> = {
  getSystem: {
    summary: 'The hardware and the operating system',
    description:
      'With `detail=1` also every GPU, network interface and battery, the service itself, and which commands work here and why others do not.',
    parameters: ['detail'],
    payloads: [system, systemDetail],
    errors: [],
    example: { target: '/api/system?detail=1' },
  },
};
