/** The user's choices: order, filters and view, kept in the query of the page's address. */
import type { HostState } from '../../src/wire/hub.ts';
import type { Machine } from './machines.ts';
import { type Figures, STATES } from './read.ts';

export const SORTS = [
  'state',
  'name',
  'load',
  'memory',
  'disk',
  'temperature',
  'network',
  'uptime',
  'version',
] as const;
export type Sort = (typeof SORTS)[number];

export const VIEWS = ['table', 'tiles', 'compare'] as const;
export type View = (typeof VIEWS)[number];
/** Machines side by side. */
export const MAX_COMPARED = 6;

export interface Choice {
  readonly view: View;
  readonly sort: Sort;
  /** The reverse of the default order. */
  readonly isReversed: boolean;
  readonly search: string;
  /** Undefined: all. */
  readonly state: HostState | undefined;
  /** `name: value` each. Of one name any of the values must match, of several names each. */
  readonly labels: readonly string[];
  /** The name of a label; undefined: not grouped. */
  readonly group: string | undefined;
  /** The ids of machines to compare. */
  readonly picked: readonly string[];
}

/** Figures are sorted from the greatest, states from those that need attention. */
export const isDescending = (sort: Sort): boolean => !['name', 'state', 'version'].includes(sort);

export function choiceOf(query: URLSearchParams): Choice {
  const view = query.get('view');
  const sort = query.get('sort')?.replace(/^-/, '');
  const state = query.get('state');
  return {
    view: VIEWS.find((name) => name === view) ?? 'table',
    sort: SORTS.find((name) => name === sort) ?? 'state',
    isReversed: query.get('sort')?.startsWith('-') === true,
    search: query.get('search') ?? '',
    state: STATES.find((name) => name === state),
    labels: query.getAll('label'),
    group: query.get('group') ?? undefined,
    picked: (query.get('pick') ?? '')
      .split(',')
      .filter((id) => id !== '')
      .slice(0, MAX_COMPARED),
  };
}

/** Returns the query that leads to the same choice; `before` has other parameters, which are kept. */
export function queryOf(choice: Choice, before: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(before);
  const { view, sort, isReversed, search, state, labels, group, picked } = choice;
  const isUsual = sort === 'state' && !isReversed;
  const entries = {
    view,
    sort: isUsual ? undefined : `${isReversed ? '-' : ''}${sort}`,
    search: search === '' ? undefined : search,
    state,
    group,
    pick: picked.length === 0 ? undefined : picked.join(','),
  };
  query.delete('label');
  for (const label of labels) query.append('label', label);
  for (const [name, value] of Object.entries(entries))
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  return query;
}

/** The states in the order in which they need somebody. */
const URGENT: readonly HostState[] = ['down', 'refused', 'unknown', 'off', 'asleep', 'up'];

/** A machine that is up and has an alarm comes after those that are lost, and before all others. */
function urgencyOf({ condition: { state }, alarm }: Machine): number {
  const rank = URGENT.indexOf(state);
  if (alarm === undefined || rank < URGENT.indexOf('off')) return rank;
  return URGENT.indexOf('off') - (alarm.severity === 'critical' ? 0.75 : 0.5);
}

const sumOf = (a: number | null, b: number | null) => (a === null && b === null ? null : (a ?? 0) + (b ?? 0));

const keyOf = (machine: Machine, sort: Sort): number | string | null => {
  const { figures, version, rank } = machine;
  if (sort === 'name') return rank;
  if (sort === 'state') return urgencyOf(machine);
  if (sort === 'network') return sumOf(figures.receive, figures.send);
  if (sort === 'version') return version === '' ? null : version;
  return figures[sort];
};

/** Returns the name of a label: `site` of `site: berlin`. */
export const nameOf = (label: string): string => label.slice(0, label.indexOf(': '));

function matches(machine: Machine, { state, labels, search }: Choice): boolean {
  if (state !== undefined && machine.condition.state !== state) return false;
  const isFound = (label: string) =>
    labels.some((other) => nameOf(other) === nameOf(label) && machine.labels.includes(other));
  return labels.every(isFound) && machine.words.includes(search.trim().toLowerCase());
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
    return a.value < b.value ? -sign : sign;
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

/** The machines of one value of a label, and their worst values. */
export interface Group {
  /** `name: value`; undefined: machines without the label. */
  readonly label: string | undefined;
  readonly machines: readonly Machine[];
  readonly down: number;
  readonly worst: Pick<Figures, 'load' | 'memory' | 'disk' | 'temperature'>;
}

function groupOf(label: string | undefined, machines: readonly Machine[]): Group {
  const worstOf = (name: keyof Group['worst']) =>
    machines.reduce<number | null>((most, { figures }) => {
      const value = figures[name];
      return value === null || (most !== null && most >= value) ? most : value;
    }, null);
  return {
    label,
    machines,
    down: machines.filter(({ condition }) => URGENT.indexOf(condition.state) < URGENT.indexOf('off')).length,
    worst: {
      load: worstOf('load'),
      memory: worstOf('memory'),
      disk: worstOf('disk'),
      temperature: worstOf('temperature'),
    },
  };
}

/** Divides machines by the label `name`, in the order of its first machines; those without it are last. */
export function grouped(machines: readonly Machine[], name: string): readonly Group[] {
  const found = new Map<string | undefined, Machine[]>();
  for (const machine of machines) {
    const label = machine.labels.find((each) => nameOf(each) === name);
    const members = found.get(label);
    if (members === undefined) found.set(label, [machine]);
    else members.push(machine);
  }
  return [...found]
    .map(([label, members]) => groupOf(label, members))
    .sort((a, b) => Number(a.label === undefined) - Number(b.label === undefined));
}
