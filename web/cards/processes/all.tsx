/** All processes in a table, with a search; polled while it is open. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ProcessListPayload } from '../../../src/wire/process.ts';
import { usePolled } from '../../parts/poll.ts';
import { TEXTS } from '../../texts.ts';
import { arrange, filterOf, type Listing, listingOf, queryOf } from './listing.ts';
import { ProcessTable, type TableProps } from './table.tsx';

const T = TEXTS.processes;
/** Maximum number of rows that the service lists. */
const MAX_ROWS = '10000';
const EVERY_MS = 3000;
/** Length from which a list is polled less often: thousands of rows are megabytes, and are read less often too. */
const LONG_ROWS = 1000;
const LONG_EVERY_MS = 10_000;
const TYPING_MS = 250;

export const pathOf = (query: Readonly<Record<string, string>>) =>
  `/api/processes?${new URLSearchParams({ ...query, limit: MAX_ROWS })}`;

/** Which rows are listed if there are more than MAX_ROWS. */
const SERVICE_SORTS = ['cpu', 'memory', 'name'];

/** Shows the listing, or a closed table, in the address. */
export function noteListing(listing: Listing | undefined): void {
  const url = new URL(location.href);
  url.search = String(queryOf(listing, url.searchParams));
  history.replaceState(history.state, '', url);
}

/** Returns `text` once it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface AllProps extends Pick<TableProps, 'onOpen' | 'onEnd' | 'guard'> {
  /** Changes when the list must be read again. */
  readonly turn: number;
}

export function All({ turn, ...row }: AllProps) {
  const [chosen, choose] = useState(() => listingOf(new URLSearchParams(location.search)));
  const [isLong, setLong] = useState(false);
  const search = useSettled(chosen.search);
  const listing = { ...chosen, search };
  const { name, users } = filterOf(search);
  // Groups have no users.
  const isGrouped = chosen.isGrouped && users.length === 0;
  const { sort } = listing;
  const path = pathOf({
    sort: SERVICE_SORTS.includes(sort) ? sort : 'cpu',
    grouped: String(isGrouped),
    query: name,
    disk: '1',
  });
  const { value, error, refresh } = usePolled<ProcessListPayload>(path, isLong ? LONG_EVERY_MS : EVERY_MS);
  const rows = useMemo(() => arrange(value?.processes ?? [], listing), [value, search, chosen]);
  const count = value?.processes.length ?? 0;
  useEffect(() => setLong(count > LONG_ROWS), [count]);
  useEffect(() => {
    if (turn > 0) refresh();
  }, [turn]);
  useEffect(() => noteListing(listing), [search, chosen.sort, chosen.isReversed, chosen.isGrouped]);
  const areGroups = rows.some((each) => 'count' in each);
  const change = (part: Partial<Listing>) => choose({ ...chosen, ...part });
  return (
    <>
      <div class="tools">
        <label class="search">
          {T.search}{' '}
          <input
            type="search"
            value={chosen.search}
            placeholder={T.searchHint}
            onInput={(event) => change({ search: event.currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isGrouped}
            disabled={users.length > 0}
            onChange={() => change({ isGrouped: !isGrouped })}
          />{' '}
          {T.grouped}
        </label>
        {value !== undefined && (
          <p class="note">
            {T.shown(rows.length, value.total_count, areGroups, name !== '' || users.length > 0)}
          </p>
        )}
      </div>
      {error !== undefined && <p class="problem">{error}</p>}
      {value !== undefined && <ProcessTable rows={rows} listing={listing} onSort={change} {...row} />}
    </>
  );
}
