/** The order and the filter of the table of processes, kept in the query of the page's address. Pure. */
import type { ProcessListPayload } from '../../../src/wire/process.ts';

export const COLUMNS = ['name', 'count', 'pid', 'user', 'cpu', 'memory', 'disk', 'threads', 'time'] as const;
export type Column = (typeof COLUMNS)[number];

export type Row = ProcessListPayload['processes'][number];

export interface Listing {
  /** Parts of names, and users as `user:NAME`. */
  readonly search: string;
  readonly sort: Column;
  /** The reverse of the column's usual order. */
  readonly isReversed: boolean;
  readonly isGrouped: boolean;
}

/** Present in the query while the table is open. */
const SEARCH = 'processes';

export const isOpenIn = (query: URLSearchParams): boolean => query.has(SEARCH);

export function listingOf(query: URLSearchParams): Listing {
  const sort = query.get('sort') ?? '';
  return {
    search: query.get(SEARCH) ?? '',
    sort: COLUMNS.find((column) => column === sort.replace(/^-/, '')) ?? 'cpu',
    isReversed: sort.startsWith('-'),
    isGrouped: query.get('grouped') !== '0',
  };
}

/** Returns the query that leads to the same listing, or to a closed table; the parameters of others are kept. */
export function queryOf(listing: Listing | undefined, before: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(before);
  for (const name of [SEARCH, 'sort', 'grouped']) query.delete(name);
  if (listing === undefined) return query;
  const { search, sort, isReversed, isGrouped } = listing;
  query.set(SEARCH, search);
  if (sort !== 'cpu' || isReversed) query.set('sort', `${isReversed ? '-' : ''}${sort}`);
  if (!isGrouped) query.set('grouped', '0');
  return query;
}

export interface Filter {
  /** Compared by the service. */
  readonly name: string;
  /** Beginnings of names of users, in lower case; empty: all. */
  readonly users: readonly string[];
}

const USER = 'user:';

export function filterOf(search: string): Filter {
  const words = search.split(/\s+/);
  const isUser = (word: string) => word.toLowerCase().startsWith(USER);
  return {
    name: words
      .filter((word) => !isUser(word))
      .join(' ')
      .trim(),
    users: words
      .filter(isUser)
      .map((word) => word.slice(USER.length).toLowerCase())
      .filter((user) => user !== ''),
  };
}

/** Numbers are sorted from the greatest, except process IDs. */
export const isDescending = (column: Column): boolean => !['name', 'user', 'pid'].includes(column);

/** Returns bytes per second; null if they are unknown. */
export const diskOf = ({ read_rate, write_rate }: Row): number | null =>
  typeof read_rate === 'number' ? read_rate + (write_rate ?? 0) : null;

function keyOf(row: Row, column: Column): string | number | null {
  if (column === 'disk') return diskOf(row);
  if (column === 'time') return row.cpu_time;
  // A column of the other kind of rows has no values.
  return (row as Readonly<Partial<Record<Column, string | number | null>>>)[column] ?? null;
}

/** Returns the rows of these users in the order of the listing; unknown values are last, in either direction. */
export function arrange(rows: readonly Row[], { sort, isReversed, search }: Listing): readonly Row[] {
  const { users } = filterOf(search);
  const isOfUsers = (row: Row) =>
    !('user' in row) || users.some((user) => row.user.toLowerCase().startsWith(user));
  const keyed = (users.length === 0 ? rows : rows.filter(isOfUsers)).map((row) => ({
    row,
    value: keyOf(row, sort),
  }));
  const sign = isDescending(sort) === isReversed ? 1 : -1;
  keyed.sort((a, b) => {
    if (a.value === b.value) return 0;
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return a.value < b.value ? -sign : sign;
  });
  return keyed.map(({ row }) => row);
}
