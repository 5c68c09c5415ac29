/** The history over HTTP. */
import type { HistoryAnswer } from '../../history/answers.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import { taggedJson } from '../etag.ts';
import type { Answer } from '../head.ts';
import { paramsOf } from '../query.ts';
import type { Request, Runs } from '../routes.ts';

const QUERY_TYPES = { numbers: ['since', 'until', 'step', 'at'], booleans: [] };

export interface HistoryRooms {
  readonly history: Pick<HistoryQueries, 'series' | 'processesAt'>;
}

export const historyRuns = ({ history }: HistoryRooms): Runs<'getHistory' | 'getProcessHistory'> => ({
  async getHistory(request) {
    const { query, client } = request;
    const params = { ...paramsOf(query, QUERY_TYPES), series: namesOf(query.getAll('series')) };
    return answerWith(await history.series(params, client.address), request);
  },
  async getProcessHistory(request) {
    const { query, client } = request;
    return answerWith(await history.processesAt(paramsOf(query, QUERY_TYPES), client.address), request);
  },
});

/** One parameter is a list; each of several is a name, because the name of a mount point may contain a comma. */
function namesOf(given: readonly string[]): readonly string[] {
  const [list, ...more] = given;
  const names = more.length > 0 ? given : (list ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

const answerWith = ({ bytes, tag }: HistoryAnswer, request: Request): Answer =>
  taggedJson(bytes, tag, request);
