/** The history on the wire: columns of series, marks, events of watch rules, and the programs that ran at a moment. */
import * as v from 'valibot';
import { historyRequest, processHistoryRequest } from './history-requests.ts';
import { means, unit } from './meaning.ts';
import type { DocsOf } from './operation-docs.ts';
import { count, exactUnixSeconds, known, type Shape, seconds, unixSeconds } from './quantities.ts';
import { EVENT_KINDS } from './severities.ts';

/** One number per slot; null if nothing was recorded. */
const column = v.array(known(v.number()));

export const historySeries = v.strictObject({
  unit: means(
    v.string(),
    'Unit of the values: `%`, `°C`, `bytes/s`, `MiB` and others; empty for a plain number.',
  ),
  mean: means(column, 'Mean of each slot.'),
  min: means(v.exactOptional(column), 'Least value of each slot; absent at a step of 1 s.'),
  max: means(v.exactOptional(column), 'Greatest value of each slot; absent at a step of 1 s.'),
});
export type HistorySeries = Shape<typeof historySeries>;

export const MARK_KINDS = ['start', 'stop', 'crash', 'boot', 'suspend', 'clock'] as const;

/** A mark that explains a gap or a jump. */
export const historyMark = v.strictObject({
  at: means(exactUnixSeconds, 'Time of the event, or of its detection where that is unknown.'),
  kind: means(
    v.picklist(MARK_KINDS),
    'start, stop: of the service; crash: the service ended unexpectedly; boot: the machine started; suspend: the machine slept; clock: its clock was set.',
  ),
  seconds: means(
    known(v.pipe(v.number(), unit('s'))),
    'Duration of the sleep or the absence; for clock, the change (negative: back). Null if unknown.',
  ),
  text: means(v.string(), 'A sentence for people.'),
});
export type HistoryMark = Shape<typeof historyMark>;

/** The processes of one name, with their use. */
export const processUse = v.strictObject({
  name: means(v.string(), 'Name of the program.'),
  count: means(count, 'Processes of that name.'),
  value: means(v.number(), 'What they used together, in the unit of the list.'),
});
export type ProcessUse = Shape<typeof processUse>;

const uses = v.pipe(v.array(processUse), v.maxLength(5));

export const processUses = v.strictObject({
  cpu: means(known(uses), 'Most processor time, in % of the machine; null where it was not read.'),
  memory: means(known(uses), 'Most resident memory, in bytes.'),
  disk: means(known(uses), 'Most bytes/s read from and written to disks; null where no process may be read.'),
});
export type ProcessUses = Shape<typeof processUses>;

export const historyEvent = v.strictObject({
  at: means(exactUnixSeconds, 'Time at which the condition had lasted long enough, or ended.'),
  kind: means(
    v.exactOptional(v.picklist(EVENT_KINDS)),
    'As in GET /api/events; absent: rule. Of the others `rule` is the subject, and `series` is empty.',
  ),
  rule: means(v.string(), 'Name of the rule: of `watch.rules`, or one that ships ready.'),
  state: means(v.picklist(['begin', 'end']), 'The condition began or ended.'),
  series: means(v.string(), 'The series.'),
  value: means(known(v.number()), 'Its value at that time; null where it has none.'),
  text: means(v.string(), 'A sentence for people.'),
  processes: means(
    v.exactOptional(known(processUses)),
    'Processes at that time; absent while features.enable_processes is off, and for a key without the scope `processes`.',
  ),
});
export type HistoryEvent = Shape<typeof historyEvent>;

/** GET /api/history and the op `history`. Slot `i` of each column covers [start + i × step, start + (i + 1) × step). */
export const historyPayload = v.strictObject({
  start: means(unixSeconds, 'Start of the first slot, a multiple of `step`.'),
  step: means(seconds, 'Duration of a slot.'),
  count: means(count, 'Number of slots.'),
  oldest: means(v.exactOptional(known(unixSeconds)), 'Time from which values are kept; null: none are.'),
  series: means(v.record(v.string(), historySeries), 'By name.'),
  unknown: means(v.array(v.string()), 'Requested names that match no series.'),
  available: means(
    v.exactOptional(v.array(v.string())),
    'Names of all series that are kept; only if no series was requested.',
  ),
  marks: means(v.array(historyMark), 'Starts, stops, suspends and clock changes in that time, in order.'),
  events: means(v.array(historyEvent), 'Events of watch rules in that time, in order.'),
});
export type HistoryPayload = Shape<typeof historyPayload>;

/** GET /api/history/processes: the 10 s that contain `at`, or the nearest ones before that were read. */
export const processHistoryPayload = v.strictObject({
  at: means(exactUnixSeconds, 'The requested time.'),
  taken_at: means(
    known(exactUnixSeconds),
    'Time at which these processes were read; null if none were recorded near that time.',
  ),
  window_seconds: means(known(seconds), 'Period over which processor and disk use are averaged.'),
  ...processUses.entries,
});
export type ProcessHistoryPayload = Shape<typeof processHistoryPayload>;

const OFF = 'While `history.minutes` is 0 the answer is 403 `feature_disabled`.';

export const HISTORY_DOCS: DocsOf<'getHistory' | 'getProcessHistory'> = {
  getHistory: {
    summary: 'The recorded measurements, as columns',
    description: `Slot \`i\` of each column covers the time from \`start + i × step\` to \`start + (i + 1) × step\`; it is null where nothing was recorded. An answer has at most 100,000 numbers; a request for more is answered with 400 \`invalid_value\`. Identical requests within one second share an answer. docs/history.md lists the names of series. ${OFF}`,
    query: historyRequest,
    payloads: [historyPayload],
    headers: ['ETag'],
    maxThroughBroker: '512 KiB',
    errors: ['invalid_value', 'not_possible_now'],
    example: { target: '/api/history?series=cpu.load,network.*&since=-600' },
  },
  getProcessHistory: {
    summary: 'The programs that used most at a past time',
    description: `Programs by name, at most five for each of processor, memory and disks. ${OFF}`,
    query: processHistoryRequest,
    payloads: [processHistoryPayload],
    headers: ['ETag'],
    maxThroughBroker: '512 KiB',
    errors: ['missing_field', 'invalid_value', 'not_possible_now'],
    example: { target: '/api/history/processes?at=-600' },
  },
};
