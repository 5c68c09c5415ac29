/** Processes on the wire: rows, groups, lists, details, and the result of a command on them. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { means } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import {
  bytes,
  bytesPerSecond,
  count,
  exactUnixSeconds,
  known,
  mib,
  percent,
  type Shape,
  seconds,
  unixSeconds,
} from './quantities.ts';
import { processKillRequest, processLaunchRequest, processListRequest } from './requests.ts';

const shares = {
  memory: means(bytes, 'Resident memory; shared memory counts in each process.'),
  memory_mb: means(mib, 'The same in MiB.'),
  cpu_time: means(seconds, 'CPU time since the start.'),
  cpu: means(
    known(percent),
    'Share of all processors since the previous reading; null in the first reading and for a new process.',
  ),
};

const groupName = means(v.string(), 'Name of the program.');
const pid = means(count, 'Process number.');

const rates = v.strictObject({
  read_rate: means(
    v.exactOptional(known(bytesPerSecond)),
    'Read from disks since the previous reading; null in the first reading, for a new process, and if this service may not read it. Only in a list with `disk=1` or `sort=disk`.',
  ),
  write_rate: means(v.exactOptional(known(bytesPerSecond)), 'Written, as `read_rate`.'),
});
/** Disk I/O of a row. */
export type ProcessRates = Shape<typeof rates>;

/** All processes of one name. */
export const processGroup = v.strictObject({
  name: groupName,
  count: means(count, 'Processes of that name.'),
  ...shares,
  ...rates.entries,
});
export type ProcessGroup = Shape<typeof processGroup>;

/** One process, as in `processes` of a detailed sample. */
export const processShare = v.strictObject({ name: groupName, pid, ...shares });
export type ProcessShare = Shape<typeof processShare>;

export const processRow = v.strictObject({
  ...processShare.entries,
  ppid: means(count, 'Number of its parent.'),
  user: means(v.string(), 'User; the uid as text if the user has no name.'),
  started_at: means(exactUnixSeconds, 'Start time.'),
  threads: means(count, 'Threads.'),
  path: means(known(v.string()), 'Path of the program; null if this service may not read it.'),
  ...rates.entries,
});
export type ProcessRow = Shape<typeof processRow>;

export const processListPayload = v.strictObject({
  timestamp: means(unixSeconds, 'Time at which the processes were read.'),
  total_count: means(count, 'Number of processes, whatever the number of rows.'),
  processes: means(
    v.union([v.array(processGroup), v.array(processRow)]),
    'Grouped by name, or one row per process with `grouped=0`.',
  ),
});
export type ProcessListPayload = Shape<typeof processListPayload>;

const CONTROL_ONLY =
  'only while features.enable_process_control is on, because command lines often hold secrets.';

export const processDetailRow = v.strictObject({
  ...processRow.entries,
  state: means(
    v.picklist(['running', 'sleeping', 'waiting', 'stopped', 'ended', 'idle', 'unknown']),
    'State; waiting: in an uninterruptible wait, usually for a disk.',
  ),
  open_files: means(known(count), 'Open file descriptors.'),
  title: means(known(v.string()), 'Title of its window: null, because a service sees no windows.'),
  command: means(v.exactOptional(v.array(v.string())), `Command line; ${CONTROL_ONLY}`),
  cwd: means(v.exactOptional(known(v.string())), `Working folder; ${CONTROL_ONLY}`),
});
export type ProcessDetailRow = Shape<typeof processDetailRow>;

/** All processes of one name, or one process. */
export const processDetailsPayload = v.strictObject({
  timestamp: means(unixSeconds, 'Time at which the processes were read.'),
  ...processGroup.entries,
  processes: means(v.pipe(v.array(processDetailRow), v.maxLength(64)), 'One row per process.'),
});
export type ProcessDetailsPayload = Shape<typeof processDetailsPayload>;

const MAX_TOP = 5;

/** In a detailed sample. */
export const processSummary = v.strictObject({
  count: means(count, 'Number of processes.'),
  running: means(count, 'Number of running processes.'),
  top_cpu: means(
    known(v.pipe(v.array(processShare), v.maxLength(MAX_TOP))),
    'The busiest; null in the first reading.',
  ),
  top_memory: means(v.pipe(v.array(processShare), v.maxLength(MAX_TOP)), 'The largest.'),
  age_seconds: means(
    seconds,
    'Time since the processes were read: reading them uses at most 1 % of a processor, so 10,000 are read about every 10 s.',
  ),
});
export type ProcessSummary = Shape<typeof processSummary>;

/** The result of `process_kill` or `process_launch`. */
export const processFeedback = v.strictObject({
  success: means(v.boolean(), 'True if it was carried out.'),
  action: means(v.picklist(['kill', 'launch']), 'The requested action.'),
  message: means(v.string(), 'A sentence for people.'),
  final: means(v.boolean(), 'Always true over HTTP.'),
  pid: means(v.exactOptional(count), 'Process number; absent if the request named processes by `name`.'),
  name: means(v.exactOptional(v.string()), 'Name of the program.'),
  count: means(v.exactOptional(count), 'Number of processes that have ended.'),
});
export type ProcessFeedback = Shape<typeof processFeedback>;

export const processCapabilities = v.strictObject({ list: capability, control: capability });
export type ProcessCapabilities = Shape<typeof processCapabilities>;

export const PROCESS_DOCS: DocsOf<'listProcesses' | 'getProcess' | 'killProcess' | 'launchProcess'> = {
  listProcesses: {
    summary: 'The processes, grouped by name or one by one',
    description:
      'Identical requests within 0.9 s share a list, so one request per second always gets a new one.',
    query: processListRequest,
    payloads: [processListPayload],
    maxThroughBroker: '512 KiB',
    errors: ['invalid_value', 'not_possible_now', 'not_supported'],
    example: { target: '/api/processes?sort=memory&limit=10' },
  },
  getProcess: {
    summary: 'All processes of one name, or one process by its pid',
    description:
      'At most 64 of them row by row. Command lines and working folders are shown only while `features.enable_process_control` is on.',
    parameters: ['name'],
    payloads: [processDetailsPayload],
    errors: ['invalid_value', 'process_not_found', 'not_possible_now', 'not_supported'],
    example: { target: '/api/processes/systemd' },
  },
  killProcess: {
    summary: 'End processes',
    description:
      'Its flag is off by default. Returns when the processes have ended; 500 `action_failed` if they have not within `timeout_ms`, 409 if any of them is protected.',
    body: processKillRequest,
    payloads: [processFeedback],
    errors: [
      'missing_field',
      'invalid_value',
      'process_not_found',
      'process_changed',
      'not_possible_now',
      'action_failed',
      'not_supported',
    ],
    example: { body: { name: 'editor' } },
  },
  launchProcess: {
    summary: 'Start an app of the configuration',
    description:
      'Its flag is off by default. `app` is a name from `processes.launch`; `args` are appended where the configuration allows that, and are refused with 400 `invalid_value` otherwise.',
    body: processLaunchRequest,
    payloads: [processFeedback],
    errors: ['missing_field', 'invalid_value', 'not_found', 'action_failed', 'not_supported'],
    example: { body: { app: 'editor' } },
  },
};
