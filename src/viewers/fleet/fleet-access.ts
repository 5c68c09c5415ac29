/** The list and the topic `fleet` of WebSockets. */
import type { Caller } from '../../access/caller.ts';
import { parseView } from '../../stats/view.ts';
import type { FleetData } from '../../wire/hub-socket.ts';
import type { FleetAccess, FleetMember } from '../socket/fleet-subscription.ts';
import type { Fleet } from './fleet.ts';
import { type FleetFilter, filterOf } from './fleet-filter.ts';
import type { HostLists } from './host-lists.ts';

export const fleetAccessOf = (fleet: Fleet, lists: Pick<HostLists, 'json'>): FleetAccess => ({
  list: (data) => lists.json(filterIn(data)),
  join(data, member: FleetMember, client: Caller) {
    const { view, ignored } = parseView(data.fields, data.detail ? '1' : null);
    const { whole, leave } = fleet.join(filterIn(data), view, member, client);
    return { whole, leave, ignored };
  },
});

/** Throws ServiceError. */
function filterIn({ labels, state }: FleetData<'hosts'>): FleetFilter {
  const query = new URLSearchParams(labels.map((label): [string, string] => ['label', label]));
  if (state !== undefined) query.append('state', state);
  return filterOf(query);
}
