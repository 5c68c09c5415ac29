/** The user's choices: order, filters and view, kept in the query of the page's address. */
import type { HostState } from '../../src/wire/hub.ts';
import type { Machine } from './machines.ts';
import { STATES } from './read.ts';

export const SORTS = ['name', 'state', 'load', 'memory', 'disk', 'temperature'] as const;
export type Sort = (typeof SORTS)[number];

export interface Choice {
  readonly view: 'table' | 'tiles';
  readonly sort: Sort;
  /** The reverse of the default order. */
  readonly isReversed: boolean;
  readonly search: string;
  /** Undefined: all. */
  readonly state: HostState | undefined;
  /** `name: value`; undefined: all. */
  readonly label: string | undefined;
}

/** Figures are sorted from the greatest, states from those that need attention. */
export const isDescending = (sort: Sort): boolean => sort !== 'name' && sort !== 'state';

/** `isNarrow`: decides the view if none was chosen. */
export function choiceOf(query: URLSearchParams, isNarrow: boolean): Choice {
  const view = query.get('view');
  const sort = query.get('sort')?.replace(/^-/, '');
  const state = query.get('state');
  return {
    view: view === 'table' || view === 'tiles' ? view : isNarrow ? 'tiles' : 'table',
    sort: SORTS.find((name) => name === sort) ?? 'name',
    isReversed: query.get('sort')?.startsWith('-') === true,
    search: query.get('search') ?? '',
    state: STATES.find((name) => name === state),
    label: query.get('label') ?? undefined,
  };
}

/** Returns the query that leads to the same choice; `before` has other parameters, which are kept. */
export function queryOf(choice: Choice, before: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(before);
  const { view, sort, isReversed, search, state, label } = choice;
  const isUsual = sort === 'name' && !isReversed;
  const entries = {
    view,
    sort: isUsual ? undefined : `${isReversed ? '-' : ''}${sort}`,
    search: search === '' ? undefined : search,
    state,
    label,
  };
  for (const [name, value] of Object.entries(entries))
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  return query;
}

/** The states in the order in which they need somebody. */
const URGENT: readonly HostState[] = ['down', 'refused', 'unknown', 'off', 'asleep', 'up'];

const keyOf = (machine: Machine, sort: Sort): number | null => {
  if (sort === 'name') return machine.rank;
  if (sort === 'state') return URGENT.indexOf(machine.condition.state);
  return machine.figures[sort];
};

function matches(machine: Machine, { state, label, search }: Choice): boolean {
  if (state !== undefined && machine.condition.state !== state) return false;
  if (label !== undefined && !machine.labels.includes(label)) return false;
  return machine.words.includes(search.trim().toLowerCase());
}

/** Returns the matching machines in the chosen order; machines whose value is unknown are last, in either direction. */
export function arrange(machines: readonly Machine[], choice: Choice): readonly Machine[] {
  const { sort, isReversed } = choice;
  const sign = isDescending(sort) === isReversed ? 1 : -1;
  const keyed = machines
    .filter((machine) => matches(machine, choice))
    .map((machine) => ({ machine, value: keyOf(machine, sort) }));
  keyed.sort((a, b) => {
    if (a.value === b.value) return a.machine.rank - b.machine.rank;
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return sign * (a.value - b.value);
  });
  return keyed.map(({ machine }) => machine);
}

/**
 * Returns the order while it is held, because the pointer or the focus is on a machine: no machine moves or disappears
 * while it exists, and new ones are appended.
 */
export function hold(shown: readonly Machine[], arranged: readonly Machine[], all: readonly Machine[]) {
  const existing = new Set(all);
  const had = new Set(shown);
  return [
    ...shown.filter((machine) => existing.has(machine)),
    ...arranged.filter((machine) => !had.has(machine)),
  ];
}
