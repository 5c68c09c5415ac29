/** The payload of a stream message and of /api/usage: the sections of a sample, and what `detail` says beside them. */
import * as v from 'valibot';
import type { DocsOf } from './operation-docs.ts';
import { processSummary } from './process.ts';
import { known, percent, type Shape, seconds, unixSeconds, watts, whole } from './quantities.ts';
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
  label: v.pipe(
    v.string(),
    v.description('The chip or drive, then what it measures there. No two sensors have the same.'),
  ),
  kind: v.picklist(['temperature', 'fan', 'voltage', 'power']),
  value: known(v.number()),
  unit: v.picklist(['°C', 'RPM', 'V', 'W']),
});
export type SensorDetail = Shape<typeof sensorDetail>;

export const batteryDetail = v.strictObject({
  name: v.string(),
  percent: known(percent),
  state: v.picklist(['charging', 'discharging', 'full', 'not_charging', 'unknown']),
  power_watts: v.pipe(
    known(watts),
    v.description('Into it or out of it, as the state says; never negative.'),
  ),
  seconds_left: v.pipe(known(seconds), v.description('Until it is empty or full.')),
  health_percent: v.pipe(
    known(v.pipe(v.number(), v.minValue(0))),
    v.description('What a full charge holds of what it held when new.'),
  ),
});
export type BatteryDetail = Shape<typeof batteryDetail>;

/** What `detail` adds beside the sections. */
const topDetail = v.strictObject({
  interval_seconds: v.pipe(seconds, v.description('Between two messages of the stream.')),
  host: v.pipe(v.string(), v.description("The machine's name.")),
  sensors: v.array(sensorDetail),
  batteries: v.array(batteryDetail),
  processes: v.pipe(
    v.exactOptional(known(processSummary)),
    v.description('Absent while features.enable_processes is off; null until they have been read.'),
  ),
});
export type TopDetail = Shape<typeof topDetail>;

const always = {
  timestamp: unixSeconds,
  uptime: v.pipe(whole, v.description('Seconds since boot.')),
};

const GPU = 'null: the machine has none.';

/** Sections that were not asked for, or could not be read, are left out. */
export const usage = v.strictObject({
  ...always,
  cpu: v.exactOptional(cpuStats),
  memory: v.exactOptional(memoryStats),
  gpu: v.pipe(v.exactOptional(v.nullable(gpuStats)), v.description(GPU)),
  disks: v.pipe(v.exactOptional(v.array(diskStats)), v.description('An entry a mount point.')),
  network: v.exactOptional(networkStats),
});
export type Usage = Shape<typeof usage>;

/** The same with `detail`. */
export const usageDetail = v.strictObject({
  ...always,
  ...topDetail.entries,
  cpu: v.exactOptional(cpuDetail),
  memory: v.exactOptional(memoryDetail),
  gpu: v.pipe(v.exactOptional(v.nullable(gpuDetail)), v.description(GPU)),
  disks: v.exactOptional(v.array(diskDetail)),
  network: v.exactOptional(networkDetail),
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
