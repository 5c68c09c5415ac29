/** The history over HTTP. */
import type { HistoryAnswer } from '../../history/answers.ts';
import type { HistoryQueries } from '../../history/queries.ts';
import { taggedJson } from '../etag.ts';
import type { Answer } from '../head.ts';
import { paramsOf } from '../query.ts';
import type { Request, Runs } from '../routes.ts';
import { HISTORY_QUERY, seriesIn } from './query-types.ts';

export interface HistoryRooms {
  readonly history: Pick<HistoryQueries, 'series' | 'processesAt'>;
}

export const historyRuns = ({ history }: HistoryRooms): Runs<'getHistory' | 'getProcessHistory'> => ({
  async getHistory(request) {
    const { query, client } = request;
    const params = { ...paramsOf(query, HISTORY_QUERY), series: seriesIn(query) };
    return answerWith(await history.series(params, client.address), request);
  },
  async getProcessHistory(request) {
    const { query, client } = request;
    return answerWith(await history.processesAt(paramsOf(query, HISTORY_QUERY), client.address), request);
  },
});

const answerWith = ({ bytes, tag }: HistoryAnswer, request: Request): Answer =>
  taggedJson(bytes, tag, request);
