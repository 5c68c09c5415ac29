/** The data of requests for the history, over HTTP and WebSocket alike. */
import * as v from 'valibot';
import { means, unit } from './meaning.ts';
import { listUpTo, numberFrom, textUpTo, wholeFrom } from './requests.ts';

const MAX_SERIES = 64;
/** A mount point may be long. */
const MAX_SERIES_LENGTH = 512;
/** About 300 years before now, and the year 33,658. */
const TIMES = [-1e10, 1e12] as const;
const MAX_STEP = 86_400;

const SERIES_SENTENCE = `series must be at most ${MAX_SERIES} names of at most ${MAX_SERIES_LENGTH} characters.`;

const momentOf = (name: string) => {
  const sentence = `${name} must be a number of Unix seconds, or negative: that many seconds before now.`;
  return v.pipe(numberFrom(...TIMES, sentence), unit('Unix seconds'));
};

/** The op `history`; the query of GET /api/history is the same. */
export const historyRequest = v.object({
  series: means(
    v.optional(listUpTo(MAX_SERIES, textUpTo(MAX_SERIES_LENGTH, SERIES_SENTENCE), SERIES_SENTENCE), []),
    'Names of series, where `*` stands for any text; when absent: the load and the temperature of the processor, memory, network, how full the disks are and the load of the first GPU. In a query, a single parameter is a list separated by commas; with several parameters each is one whole name, which may contain commas.',
  ),
  since: means(v.optional(momentOf('since'), -3600), 'Start of the period; negative: that many seconds ago.'),
  until: means(
    v.optional(momentOf('until')),
    'End of the period, by default now; negative: that many seconds ago.',
  ),
  step: means(
    v.optional(
      v.pipe(
        wholeFrom(1, MAX_STEP, `step must be a whole number of seconds from 1 to ${MAX_STEP}.`),
        unit('s'),
      ),
    ),
    'Length of a slot: 1 within the last 5 minutes, otherwise a multiple of 10 (others are raised). By default 1 s if the whole period is within the last 5 minutes, otherwise the smallest that gives at most 720 slots.',
  ),
});

/** The op `process_history`, and the query of GET /api/history/processes. */
export const processHistoryRequest = v.object({
  at: means(momentOf('at'), 'The time; negative: that many seconds ago.'),
});
