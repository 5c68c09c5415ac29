/** The history of a service, in single requests. */
import type { HistoryPayload, ProcessHistoryPayload } from '../wire/history.ts';
import { type RequestOptions, request } from './rest.ts';

/** The selection of a query to the history. */
export interface HistoryQuery {
  /** Names, where `*` stands for any text. Default: the load, memory, network, disks and the first GPU. */
  readonly series?: readonly string[] | undefined;
  /** Unix seconds; negative: before now. Default: -3600. */
  readonly since?: number | undefined;
  /** Unix seconds; negative: before now. Default: now. */
  readonly until?: number | undefined;
  /** Seconds per slot. Default: as is right for that time. */
  readonly step?: number | undefined;
}

export type ReadOptions = Omit<RequestOptions, 'method' | 'body'>;

/** Reads recorded values. Rejects as `request`; with `feature_disabled` where nothing is recorded. */
export async function history({
  series,
  since,
  until,
  step,
  ...options
}: HistoryQuery & ReadOptions): Promise<HistoryPayload> {
  // Each of several parameters is one whole name; a single one would be read as a list.
  const names = series?.length === 1 ? [...series, ''] : (series ?? []);
  const query = new URLSearchParams(names.map((name): [string, string] => ['series', name]));
  for (const [key, value] of Object.entries({ since, until, step }))
    if (value !== undefined) query.append(key, `${value}`);
  return (await request<HistoryPayload>(`/api/history?${query}`, options)).data;
}

/** Which programs used most at a moment: Unix seconds, or negative: before now. Rejects as `history`. */
export async function processesAt(at: number, options: ReadOptions): Promise<ProcessHistoryPayload> {
  return (await request<ProcessHistoryPayload>(`/api/history/processes?at=${at}`, options)).data;
}
