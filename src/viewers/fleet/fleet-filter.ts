/** The machines that a viewer wants: `label=NAME:VALUE` (all must match), `state=` and `host=` (one must match) of a query. */

import { ServiceError } from '../../errors.ts';
import type { RemoteMachine } from '../../machine/remote.ts';
import { HOST_STATES } from '../../wire/host-states.ts';

const MAX_LABELS = 16;
const MAX_LABEL_LENGTH = 129;
const MAX_HOSTS = 16;

export interface FleetFilter {
  /** Equal for equal filters. */
  readonly key: string;
  /** It wants every machine. */
  readonly isEmpty: boolean;
  matches(machine: Pick<RemoteMachine, 'id' | 'labels' | 'condition'>): boolean;
  /** Without the state, which changes on its own. */
  concerns(machine: Pick<RemoteMachine, 'id' | 'labels'>): boolean;
}

const invalid = (message: string) => new ServiceError('invalid_value', message);

/** Throws ServiceError. */
export function filterOf(query: URLSearchParams): FleetFilter {
  const given = new Set(query.getAll('state'));
  const states = HOST_STATES.filter((name) => given.has(name));
  if (states.length < given.size) throw invalid(`state must be one of ${HOST_STATES.join(', ')}.`);
  const labels = [...new Set(query.getAll('label'))].sort();
  if (labels.length > MAX_LABELS) throw invalid(`A request may have at most ${MAX_LABELS} labels.`);
  const wanted = labels.map((text) => {
    const colon = text.indexOf(':');
    if (colon < 1 || text.length > MAX_LABEL_LENGTH) throw invalid('label must be NAME:VALUE.');
    return [text.slice(0, colon), text.slice(colon + 1)] as const;
  });
  const ids = [...new Set(query.getAll('host'))].sort();
  if (ids.length > MAX_HOSTS) throw invalid(`A request may name at most ${MAX_HOSTS} hosts.`);
  const concerns = ({ id, labels: own }: Pick<RemoteMachine, 'id' | 'labels'>) =>
    (ids.length === 0 || ids.includes(id)) &&
    wanted.every(([name, value]) => Object.hasOwn(own, name) && own[name] === value);
  return {
    key: JSON.stringify([states, labels, ids]),
    isEmpty: states.length === 0 && labels.length === 0 && ids.length === 0,
    concerns,
    matches: (machine) =>
      concerns(machine) && (states.length === 0 || states.includes(machine.condition.state)),
  };
}

/** The part of a list that a client asks for. */
export interface ListPart {
  /** The sections of last values. */
  readonly sections: number;
  /** The id that all of it come after; undefined: it begins with the first. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** The most machines that a page of a list may have: more is a list without pages. */
const MAX_LIMIT = 10_000;

/** The part of the list that a query asks for: `limit`, `after`. Throws ServiceError. */
export function listPartOf(query: URLSearchParams, sections: number): ListPart {
  const after = query.get('after') ?? undefined;
  const text = query.get('limit');
  const limit = text === null ? Number.POSITIVE_INFINITY : Number(text);
  if (text !== null && (!/^\d{1,5}$/.test(text) || limit < 1 || limit > MAX_LIMIT))
    throw invalid(`limit must be a number from 1 to ${MAX_LIMIT}.`);
  if (after !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(after))
    throw invalid('after must be the id of a machine.');
  return { sections, after, limit };
}
