/** The payload of a stream message and of /api/usage: the sections of a sample, and what `detail` adds beside them. */
import * as v from 'valibot';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { processSummary } from './process.ts';
import {
  known,
  openPercent,
  percent,
  type Shape,
  seconds,
  unixSeconds,
  watts,
  wholeSeconds,
} from './quantities.ts';
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

export const sensorDetail = v.strictObject({
  label: means(v.string(), 'Chip or drive, then what it measures there; unique.'),
  kind: means(v.picklist(['temperature', 'fan', 'voltage', 'power']), 'What it measures.'),
  value: means(known(v.number()), 'Reading, in `unit`.'),
  unit: means(v.picklist(['°C', 'RPM', 'V', 'W']), 'Unit of the value.'),
});
export type SensorDetail = Shape<typeof sensorDetail>;

export const batteryDetail = v.strictObject({
  name: means(v.string(), 'Name in the system.'),
  percent: means(known(percent), 'Charge.'),
  state: means(
    v.picklist(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
    'What it is doing.',
  ),
  power_watts: means(known(watts), 'Power into it or out of it, as the state says; never negative.'),
  seconds_left: means(known(seconds), 'Time until it is empty or full.'),
  health_percent: means(known(openPercent), 'Capacity of a full charge compared to a new battery.'),
});
export type BatteryDetail = Shape<typeof batteryDetail>;

/** The keys that `detail` adds beside the sections. */
const topDetail = v.strictObject({
  interval_seconds: means(seconds, 'Time between two messages of the stream.'),
  host: means(v.string(), 'Host name.'),
  sensors: means(v.array(sensorDetail), 'Temperatures, fans, voltages and power.'),
  batteries: means(v.array(batteryDetail), 'Batteries of the machine.'),
  processes: means(
    v.exactOptional(known(processSummary)),
    'Absent while features.enable_processes is off; null until they have been read.',
  ),
});
export type TopDetail = Shape<typeof topDetail>;

const everySample = {
  timestamp: means(unixSeconds, 'When the sample was taken.'),
  uptime: means(wholeSeconds, 'Time since boot.'),
};

const SECTION = 'The section; absent if it was not requested or cannot be read.';
const GPU = 'The first GPU; null if the machine has none.';
const DISKS = 'One entry per mount point.';

/** Sections that were not requested, or cannot be read, are absent. */
export const usage = v.strictObject({
  ...everySample,
  cpu: means(v.exactOptional(cpuStats), SECTION),
  memory: means(v.exactOptional(memoryStats), SECTION),
  gpu: means(v.exactOptional(v.nullable(gpuStats)), GPU),
  disks: means(v.exactOptional(v.array(diskStats)), DISKS),
  network: means(v.exactOptional(networkStats), SECTION),
});
export type Usage = Shape<typeof usage>;

/** The same with `detail`. */
export const usageDetail = v.strictObject({
  ...everySample,
  ...topDetail.entries,
  cpu: means(v.exactOptional(cpuDetail), SECTION),
  memory: means(v.exactOptional(memoryDetail), SECTION),
  gpu: means(v.exactOptional(v.nullable(gpuDetail)), GPU),
  disks: means(v.exactOptional(v.array(diskDetail)), DISKS),
  network: means(v.exactOptional(networkDetail), SECTION),
});
export type UsageDetail = Shape<typeof usageDetail>;

const payloads = [usage, usageDetail];

export const USAGE_DOCS: DocsOf<'getUsage' | 'openStream'> = {
  getUsage: {
    summary: 'One sample, now',
    description:
      'The latest sample if it is younger than one second, otherwise a fresh one: one payload of the stream. `fields` and `detail` never cause an error.',
    parameters: ['fields', 'detail'],
    payloads,
    headers: ['X-Ignored-Fields'],
    errors: [],
    example: { target: '/api/usage?fields=cpu,memory' },
  },
  openStream: {
    summary: 'Samples as Server-Sent Events',
    description:
      'One event at once, then one per `stats.stream_interval_seconds` (default 2) until the connection closes. Each event is one line `data: <JSON>` and a blank line; the JSON is the payload of `/api/usage`. A comment, `:`, follows 15 s of silence. `fields` and `detail` never cause an error.',
    parameters: ['fields', 'detail'],
    payloads,
    isStream: true,
    headers: ['X-Ignored-Fields'],
    errors: ['too_many_streams'],
    example: { target: '/api/stream?fields=network', options: '-N' },
  },
};
