/** The machines that a viewer wants: `label=NAME:VALUE` and `state=` of a query. */
import type { RemoteHost } from '../../agent/remote/remote.ts';
import { ServiceError } from '../../errors.ts';
import { HOST_STATES } from '../../wire/host-states.ts';

const MAX_LABELS = 16;
const MAX_LABEL_LENGTH = 129;

export interface FleetFilter {
  /** Equal for equal filters. */
  readonly key: string;
  /** It wants every machine. */
  readonly isEmpty: boolean;
  matches(machine: Pick<RemoteHost, 'labels' | 'condition'>): boolean;
  /** Without the state, which changes on its own. */
  concerns(machine: Pick<RemoteHost, 'labels'>): boolean;
}

const invalid = (message: string) => new ServiceError('invalid_value', message);

/** Throws ServiceError. */
export function filterOf(query: URLSearchParams): FleetFilter {
  const states = query.getAll('state');
  const state = HOST_STATES.find((name) => name === states[0]);
  if (states.length > 1 || (states.length === 1 && state === undefined))
    throw invalid(`state must be one of ${HOST_STATES.join(', ')}.`);
  const labels = [...new Set(query.getAll('label'))].sort();
  if (labels.length > MAX_LABELS) throw invalid(`A request may have at most ${MAX_LABELS} labels.`);
  const wanted = labels.map((text) => {
    const colon = text.indexOf(':');
    if (colon < 1 || text.length > MAX_LABEL_LENGTH) throw invalid('label must be NAME:VALUE.');
    return [text.slice(0, colon), text.slice(colon + 1)] as const;
  });
  const concerns = ({ labels: own }: Pick<RemoteHost, 'labels'>) =>
    wanted.every(([name, value]) => Object.hasOwn(own, name) && own[name] === value);
  return {
    key: JSON.stringify([state ?? null, labels]),
    isEmpty: state === undefined && labels.length === 0,
    concerns,
    matches: (machine) => concerns(machine) && (state === undefined || machine.condition.state === state),
  };
}
