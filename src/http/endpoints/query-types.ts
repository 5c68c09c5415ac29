/** What the queries of each subject have beside texts; the hub reads the same. */
import type { QueryTypes } from '../query.ts';

export const POWER_QUERY: QueryTypes = { numbers: ['delay'], booleans: ['force'] };
export const PROCESS_QUERY: QueryTypes = { numbers: ['limit'], booleans: ['grouped'] };
export const HISTORY_QUERY: QueryTypes = { numbers: ['since', 'until', 'step', 'at'], booleans: [] };

/** The names of series: one parameter is a list; each of several is a name, because that of a mount may have a comma. */
export function seriesIn(query: URLSearchParams): readonly string[] {
  const [list = '', ...more] = query.getAll('series');
  const names = more.length > 0 ? [list, ...more] : list.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}
