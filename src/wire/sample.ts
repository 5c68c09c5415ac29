/**
 * The sections of a sample on the wire: the contract's keys, and what `detail` adds. Without detail a temperature, a
 * speed or a number of a GPU that nobody could read is 0; with it, as everything else, null.
 */
import * as v from 'valibot';
import {
  bytes,
  bytesPerSecond,
  celsius,
  count,
  gigahertz,
  known,
  megahertz,
  mib,
  percent,
  type Shape,
  watts,
} from './quantities.ts';

export const cpuStats = v.strictObject({
  current_load: percent,
  current_temp: celsius,
  current_speed: gigahertz,
});
export type CpuStats = Shape<typeof cpuStats>;

const pressure = v.pipe(
  v.strictObject({ some: percent, full: percent }),
  v.description('Share of the last 10 s in which some, or all, tasks waited (PSI avg10).'),
);
export type Pressure = Shape<typeof pressure>;

const cpuBreakdown = v.strictObject({
  user: percent,
  system: percent,
  nice: percent,
  iowait: percent,
  irq: percent,
  steal: percent,
  idle: percent,
});
export type CpuBreakdown = Shape<typeof cpuBreakdown>;

const load = v.pipe(v.number(), v.minValue(0));

export const cpuDetail = v.strictObject({
  current_load: known(percent),
  current_temp: known(celsius),
  current_speed: known(gigahertz),
  cores: v.pipe(v.array(known(percent)), v.description('The load of each processor.')),
  speeds: v.pipe(v.array(known(gigahertz)), v.description('The speed of each processor.')),
  load_average: v.pipe(known(v.strictTuple([load, load, load])), v.description('Over 1, 5 and 15 minutes.')),
  breakdown: known(cpuBreakdown),
  temperature: known(celsius),
  power_watts: known(watts),
  pressure: known(pressure),
});
export type CpuDetail = Shape<typeof cpuDetail>;

export const memoryStats = v.strictObject({
  used: v.pipe(bytes, v.description('Bytes: what is not available.')),
  free: v.pipe(bytes, v.description('Bytes that are available.')),
  used_percent: percent,
});
export type MemoryStats = Shape<typeof memoryStats>;

const swapDetail = v.strictObject({ total: bytes, used: bytes, free: bytes, used_percent: percent });
export type SwapDetail = Shape<typeof swapDetail>;

export const memoryDetail = v.strictObject({
  used: known(bytes),
  free: known(bytes),
  used_percent: known(percent),
  total: known(bytes),
  cached: known(bytes),
  buffers: known(bytes),
  swap: known(swapDetail),
  pressure: known(pressure),
});
export type MemoryDetail = Shape<typeof memoryDetail>;

export const gpuStats = v.strictObject({
  current_load: percent,
  current_temp: celsius,
  current_memory: v.pipe(count, v.description('MiB in use.')),
});
export type GpuStats = Shape<typeof gpuStats>;

const asleep = v.pipe(v.boolean(), v.description('Suspended: it is not woken to be read.'));
const fanPercent = known(v.pipe(v.number(), v.minValue(0), v.description('Percent.')));

export const gpuDevice = v.strictObject({
  name: v.string(),
  vendor: v.string(),
  load: known(percent),
  temperature: known(celsius),
  memory_used: known(mib),
  memory_total: known(mib),
  power_watts: known(watts),
  fan_percent: fanPercent,
  clock_mhz: known(megahertz),
  asleep,
});
export type GpuDevice = Shape<typeof gpuDevice>;

export const gpuDetail = v.strictObject({
  current_load: known(percent),
  current_temp: known(celsius),
  current_memory: known(mib),
  name: v.string(),
  vendor: v.string(),
  memory_total: known(mib),
  power_watts: known(watts),
  fan_percent: fanPercent,
  clock_mhz: known(megahertz),
  asleep,
  devices: v.pipe(v.array(gpuDevice), v.description('All of them; the first one is shown above.')),
});
export type GpuDetail = Shape<typeof gpuDetail>;

const mountPoint = v.pipe(v.string(), v.description('The mount point; `C:` on Windows.'));

export const diskStats = v.strictObject({
  fs: mountPoint,
  used: bytes,
  available: bytes,
  used_percent: percent,
});
export type DiskStats = Shape<typeof diskStats>;

export const diskDetail = v.strictObject({
  fs: mountPoint,
  used: known(bytes),
  available: known(bytes),
  used_percent: known(percent),
  device: known(v.string()),
  type: known(v.string()),
  size: known(bytes),
  label: known(v.string()),
  read_only: known(v.boolean()),
  removable: known(v.boolean()),
  stale: v.pipe(v.boolean(), v.description('It does not answer: what is shown is what it last said.')),
  read_bytes: known(bytes),
  write_bytes: known(bytes),
  read_rate: known(bytesPerSecond),
  write_rate: known(bytesPerSecond),
  busy_percent: known(percent),
});
export type DiskDetail = Shape<typeof diskDetail>;

const sinceBoot = v.pipe(bytes, v.description('Bytes since boot.'));

export const networkStats = v.strictObject({ bytesSent: sinceBoot, bytesRecv: sinceBoot });
export type NetworkStats = Shape<typeof networkStats>;

export const interfaceDetail = v.strictObject({
  name: v.string(),
  kind: v.string(),
  up: known(v.boolean()),
  speed_mbps: known(v.pipe(v.number(), v.minValue(0), v.description('Megabits a second.'))),
  mac: known(v.string()),
  addresses: v.array(v.string()),
  bytesSent: sinceBoot,
  bytesRecv: sinceBoot,
  send_rate: known(bytesPerSecond),
  receive_rate: known(bytesPerSecond),
  errin: known(count),
  errout: known(count),
  dropin: known(count),
  dropout: known(count),
  signal_dbm: known(v.pipe(v.number(), v.description('dBm.'))),
});
export type InterfaceDetail = Shape<typeof interfaceDetail>;

export const networkDetail = v.strictObject({
  bytesSent: sinceBoot,
  bytesRecv: sinceBoot,
  send_rate: known(bytesPerSecond),
  receive_rate: known(bytesPerSecond),
  packetsSent: known(count),
  packetsRecv: known(count),
  errin: known(count),
  errout: known(count),
  dropin: known(count),
  dropout: known(count),
  interfaces: v.array(interfaceDetail),
});
export type NetworkDetail = Shape<typeof networkDetail>;
