/** The payload of a stream message and of /api/usage: the sections of a sample, and the details beside them. */
import * as v from 'valibot';
import { details } from './details.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { known, type Shape, seconds, unixSeconds, wholeSeconds } from './quantities.ts';
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

/** The keys of `detail` beside the sections. */
const detailExtras = v.strictObject({
  interval_seconds: means(seconds, 'Time between two messages of the stream.'),
  window_seconds: means(
    known(seconds),
    'Period over which loads and rates are averaged, without suspended time: in a stream the interval, in an answer the time since the previous reading. The shortest, where sections differ.',
  ),
  host: means(v.string(), 'Host name.'),
  ...details.entries,
});
export type DetailExtras = Shape<typeof detailExtras>;

const everySample = {
  timestamp: means(unixSeconds, 'Time of the sample.'),
  uptime: means(
    wholeSeconds,
    'Time since boot; in a container with an uptime of its own (lxcfs) since its start.',
  ),
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
  ...detailExtras.entries,
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
      'The latest sample if it was requested less than 0.9 s ago, otherwise a fresh one. One request per second always gets a new one. How full a local disk is may be up to 5 s older, a clock speed 2 s.',
    parameters: ['fields', 'detail'],
    payloads,
    headers: ['X-Ignored-Fields'],
    errors: [],
    example: { target: '/api/usage?fields=cpu,memory' },
  },
  openStream: {
    summary: 'Samples as Server-Sent Events',
    description:
      'One event immediately, then one per `stats.stream_interval_seconds` (default 2) until the connection closes. Each event is one line `data: <JSON>` and a blank line; the JSON is the payload of `/api/usage`. After 15 s without an event a comment, `:`, is sent.',
    parameters: ['fields', 'detail'],
    payloads,
    isStream: true,
    headers: ['X-Ignored-Fields'],
    errors: ['too_many_streams'],
    example: { target: '/api/stream?fields=network', options: '-N' },
  },
};
