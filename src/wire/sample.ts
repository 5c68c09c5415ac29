/**
 * The sections of a sample on the wire: the contract's keys, and those that `detail` adds. A temperature, a speed or a
 * number of a GPU that cannot be read is 0 without detail, and null with it, like everything else.
 */
import * as v from 'valibot';
import { means } from './meaning.ts';
import {
  bytes,
  bytesPerSecond,
  celsius,
  count,
  dbm,
  gigahertz,
  known,
  megabitsPerSecond,
  megahertz,
  mib,
  openPercent,
  percent,
  type Shape,
  watts,
  wholeMib,
} from './quantities.ts';

export const cpuStats = v.strictObject({
  current_load: means(percent, 'Load of all processors together.'),
  current_temp: means(celsius, 'Temperature; 0 if it cannot be read.'),
  current_speed: means(gigahertz, 'Mean clock speed; 0 if it cannot be read.'),
});
export type CpuStats = Shape<typeof cpuStats>;

const pressure = means(
  v.strictObject({
    some: means(percent, 'At least one task waited.'),
    full: means(percent, 'All tasks waited.'),
  }),
  'Share of the last 10 s in which some (or all) tasks waited for it (PSI avg10).',
);
export type Pressure = Shape<typeof pressure>;

const cpuBreakdown = v.strictObject({
  user: means(percent, 'Programs, without niced ones.'),
  system: means(percent, 'The kernel.'),
  nice: means(percent, 'Niced programs.'),
  iowait: means(percent, 'Idle while waiting for a disk.'),
  irq: means(percent, 'Interrupts, soft ones included.'),
  steal: means(percent, 'Taken by the hypervisor.'),
  idle: means(percent, 'Idle.'),
});
export type CpuBreakdown = Shape<typeof cpuBreakdown>;

const load = v.pipe(v.number(), v.minValue(0));

export const cpuDetail = v.strictObject({
  current_load: means(known(percent), 'Load of all processors together.'),
  current_temp: means(known(celsius), 'Temperature.'),
  current_speed: means(known(gigahertz), 'Mean clock speed.'),
  cores: means(v.array(known(percent)), 'Load of each processor.'),
  speeds: means(v.array(known(gigahertz)), 'Clock speed of each processor.'),
  load_average: means(known(v.strictTuple([load, load, load])), 'Load average over 1, 5 and 15 minutes.'),
  breakdown: means(known(cpuBreakdown), 'Where the time of all processors went.'),
  temperature: means(known(celsius), 'Same as current_temp.'),
  power_watts: means(known(watts), 'Power of the processor package.'),
  pressure: known(pressure),
});
export type CpuDetail = Shape<typeof cpuDetail>;

export const memoryStats = v.strictObject({
  used: means(bytes, 'In use: total minus available.'),
  free: means(bytes, 'Available to programs.'),
  used_percent: means(percent, 'Share in use.'),
});
export type MemoryStats = Shape<typeof memoryStats>;

const swapDetail = v.strictObject({
  total: means(bytes, 'Size of the swap space.'),
  used: means(bytes, 'In use.'),
  free: means(bytes, 'Free.'),
  used_percent: means(percent, 'Share in use.'),
});
export type SwapDetail = Shape<typeof swapDetail>;

export const memoryDetail = v.strictObject({
  used: means(known(bytes), 'In use: total minus available.'),
  free: means(known(bytes), 'Available to programs.'),
  used_percent: means(known(percent), 'Share in use.'),
  total: means(known(bytes), 'Memory that the system can use.'),
  cached: means(known(bytes), 'Page cache.'),
  buffers: means(known(bytes), 'Buffers of block devices.'),
  swap: means(known(swapDetail), 'Swap space.'),
  pressure: known(pressure),
});
export type MemoryDetail = Shape<typeof memoryDetail>;

export const gpuStats = v.strictObject({
  current_load: means(percent, 'Load; 0 if it cannot be read.'),
  current_temp: means(celsius, 'Temperature; 0 if it cannot be read.'),
  current_memory: means(wholeMib, 'Memory in use; 0 if it cannot be read.'),
});
export type GpuStats = Shape<typeof gpuStats>;

const gpuProduct = {
  name: means(v.string(), 'Product name.'),
  vendor: means(v.string(), 'NVIDIA, AMD, Intel or another vendor.'),
};
const gpuState = {
  memory_total: means(known(mib), 'Size of its memory.'),
  power_watts: means(known(watts), 'Power of the card or chip.'),
  fan_percent: means(known(openPercent), 'Fan speed.'),
  clock_mhz: means(known(megahertz), 'Clock speed.'),
  asleep: means(v.boolean(), 'Suspended; it is not woken to be read.'),
};

export const gpuDevice = v.strictObject({
  ...gpuProduct,
  load: means(known(percent), 'Load.'),
  temperature: means(known(celsius), 'Temperature.'),
  memory_used: means(known(mib), 'Memory in use.'),
  ...gpuState,
});
export type GpuDevice = Shape<typeof gpuDevice>;

export const gpuDetail = v.strictObject({
  current_load: means(known(percent), 'Load.'),
  current_temp: means(known(celsius), 'Temperature.'),
  current_memory: means(known(mib), 'Memory in use.'),
  ...gpuProduct,
  ...gpuState,
  devices: means(v.array(gpuDevice), 'All GPUs; the keys above are those of the first.'),
});
export type GpuDetail = Shape<typeof gpuDetail>;

const mountPoint = means(v.string(), 'Mount point; `C:` on Windows.');

export const diskStats = v.strictObject({
  fs: mountPoint,
  used: means(bytes, 'In use.'),
  available: means(bytes, 'Available to ordinary users.'),
  used_percent: means(percent, 'used / (used + available), as df shows it.'),
});
export type DiskStats = Shape<typeof diskStats>;

export const diskDetail = v.strictObject({
  fs: mountPoint,
  used: means(known(bytes), 'In use.'),
  available: means(known(bytes), 'Available to ordinary users.'),
  used_percent: means(known(percent), 'used / (used + available), as df shows it.'),
  device: means(known(v.string()), 'Device, share or dataset that is mounted.'),
  type: means(known(v.string()), 'Filesystem.'),
  size: means(known(bytes), 'Size of the filesystem.'),
  label: means(known(v.string()), 'Label of the filesystem.'),
  read_only: means(known(v.boolean()), 'Mounted read-only.'),
  removable: means(known(v.boolean()), 'On a removable device.'),
  stale: means(v.boolean(), 'Not responding; the values are the last known ones.'),
  read_bytes: means(known(bytes), 'Read since boot. Of all devices of the filesystem together.'),
  write_bytes: means(
    known(bytes),
    'Written since boot. Of all devices of the filesystem together: with RAID 1 each byte counts once per copy.',
  ),
  read_rate: means(
    known(bytesPerSecond),
    'Read since the previous sample, as `read_bytes`; null in the first one with another set of devices.',
  ),
  write_rate: means(
    known(bytesPerSecond),
    'Written since the previous sample, as `write_bytes`; null in the first one with another set of devices.',
  ),
  busy_percent: means(
    known(percent),
    'Share of the time in which the device was busy; of several devices the mean.',
  ),
});
export type DiskDetail = Shape<typeof diskDetail>;

/** All counted interfaces together. */
export const networkStats = v.strictObject({
  bytesSent: means(bytes, 'Sent since boot.'),
  bytesRecv: means(bytes, 'Received since boot.'),
});
export type NetworkStats = Shape<typeof networkStats>;

const rates = {
  send_rate: means(known(bytesPerSecond), 'Sent since the previous sample.'),
  receive_rate: means(known(bytesPerSecond), 'Received since the previous sample.'),
};
const faults = {
  errin: means(known(count), 'Receive errors since boot.'),
  errout: means(known(count), 'Send errors since boot.'),
  dropin: means(known(count), 'Received packets that were dropped since boot.'),
  dropout: means(known(count), 'Packets to send that were dropped since boot.'),
};

export const interfaceDetail = v.strictObject({
  name: means(v.string(), 'Name in the system.'),
  kind: means(v.string(), 'ethernet, wifi, loopback, bridge and others.'),
  up: means(known(v.boolean()), 'It has a link.'),
  speed_mbps: means(known(megabitsPerSecond), 'Speed of the link.'),
  mac: means(known(v.string()), 'Hardware address.'),
  addresses: means(v.array(v.string()), 'IPv4 and IPv6 addresses.'),
  ...networkStats.entries,
  ...rates,
  ...faults,
  signal_dbm: means(known(dbm), 'Signal of a wireless link.'),
});
export type InterfaceDetail = Shape<typeof interfaceDetail>;

export const networkDetail = v.strictObject({
  ...networkStats.entries,
  ...rates,
  packetsSent: means(known(count), 'Sent since boot.'),
  packetsRecv: means(known(count), 'Received since boot.'),
  ...faults,
  interfaces: means(v.array(interfaceDetail), 'Every interface, counted in the totals or not.'),
});
export type NetworkDetail = Shape<typeof networkDetail>;
