/** Processes on the wire: rows, groups, lists, details, and how a command on them ended. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import type { DocsOf } from './operation-docs.ts';
import { bytes, count, known, percent, type Shape, unixSeconds } from './quantities.ts';
import { processKillRequest, processListRequest } from './requests.ts';

const usage = {
  memory: v.pipe(bytes, v.description('Resident bytes; memory that processes share counts in each of them.')),
  memory_mb: v.pipe(v.number(), v.minValue(0), v.description('The same in MiB.')),
  cpu_time: v.pipe(v.number(), v.minValue(0), v.description('Seconds of CPU time since the start.')),
  cpu: v.pipe(
    known(percent),
    v.description(
      'Percent of the whole machine since the reading before; null in a first reading and for a process that is new.',
    ),
  ),
};

/** All processes of one name. */
export const processGroup = v.strictObject({ name: v.string(), count, ...usage });
export type ProcessGroup = Shape<typeof processGroup>;

/** One process, as in `processes` of a detailed sample. */
export const processShare = v.strictObject({ name: v.string(), pid: count, ...usage });
export type ProcessShare = Shape<typeof processShare>;

export const processRow = v.strictObject({
  ...processShare.entries,
  ppid: count,
  user: v.pipe(v.string(), v.description('Its number, as text, where the user has no name.')),
  started_at: v.pipe(v.number(), v.minValue(0), v.description('Unix seconds.')),
  threads: count,
  path: v.pipe(known(v.string()), v.description('Of the program; null where this service may not know it.')),
});
export type ProcessRow = Shape<typeof processRow>;

export const processListPayload = v.strictObject({
  timestamp: unixSeconds,
  total_count: v.pipe(count, v.description('Processes, however many rows follow.')),
  processes: v.union([v.array(processGroup), v.array(processRow)]),
});
export type ProcessListPayload = Shape<typeof processListPayload>;

const CONTROL_ONLY = 'Only while features.enable_process_control is on: command lines often hold secrets.';

export const processDetailRow = v.strictObject({
  ...processRow.entries,
  state: v.picklist(['running', 'sleeping', 'waiting', 'stopped', 'ended', 'idle', 'unknown']),
  open_files: known(count),
  command: v.pipe(v.exactOptional(v.array(v.string())), v.description(CONTROL_ONLY)),
  cwd: v.pipe(v.exactOptional(known(v.string())), v.description(CONTROL_ONLY)),
});
export type ProcessDetailRow = Shape<typeof processDetailRow>;

/** All processes of one name, or the one of a number. */
export const processDetailsPayload = v.strictObject({
  timestamp: unixSeconds,
  ...processGroup.entries,
  processes: v.pipe(v.array(processDetailRow), v.maxLength(64)),
});
export type ProcessDetailsPayload = Shape<typeof processDetailsPayload>;

const MOST_TOP = 5;

/** In a detailed sample. */
export const processSummary = v.strictObject({
  count,
  running: count,
  top_cpu: v.pipe(
    known(v.pipe(v.array(processShare), v.maxLength(MOST_TOP))),
    v.description('null in the first reading.'),
  ),
  top_memory: v.pipe(v.array(processShare), v.maxLength(MOST_TOP)),
});
export type ProcessSummary = Shape<typeof processSummary>;

/** How `process_kill` or `process_launch` ended. */
export const processFeedback = v.strictObject({
  success: v.boolean(),
  action: v.picklist(['kill', 'launch']),
  message: v.string(),
  final: v.boolean(),
  pid: v.pipe(v.exactOptional(count), v.description('Absent where it was asked for by name.')),
  name: v.exactOptional(v.string()),
  count: v.pipe(v.exactOptional(count), v.description('Processes that have ended.')),
});
export type ProcessFeedback = Shape<typeof processFeedback>;

export const processCapabilities = v.strictObject({ list: capability, control: capability });
export type ProcessCapabilities = Shape<typeof processCapabilities>;

export const PROCESS_DOCS: DocsOf<'listProcesses' | 'getProcess' | 'killProcess'> = {
  listProcesses: {
    summary: 'The processes, grouped by name or one by one',
    query: processListRequest,
    payloads: [processListPayload],
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
      'Its flag is off by default. Answers when they have ended; 500 `action_failed` if they have not within `timeout_ms`, 409 if a process is protected.',
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
};
