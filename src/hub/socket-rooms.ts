/** What the WebSockets of a hub ask of its hosts, its fleet and `Asking`. Answers were checked where they came in. */
import type { Clock } from '../clock.ts';
import type { Caller } from '../http/clients/caller.ts';
import type { Params } from '../params.ts';
import { parseView, type View } from '../stats/view.ts';
import type { FleetData } from '../wire/hub-socket.ts';
import type { Asking, Follower } from './commands/asking.ts';
import { type Filter, filterOf } from './fleet/filter.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { HostLists } from './fleet/host-lists.ts';
import { NOBODY } from './host/ask.ts';
import type { Times } from './host/times.ts';
import type { Hosts } from './hosts/hosts.ts';
import type {
  AskedAnswer,
  FleetFollower,
  FleetSubscription,
  SocketHost,
  SocketRooms,
} from './socket/rooms.ts';

export interface SocketRoomsOptions {
  readonly hosts: Hosts;
  readonly lists: Pick<HostLists, 'json'>;
  readonly fleet: Fleet;
  readonly asking: Asking;
  readonly clock: Pick<Clock, 'now'>;
  readonly times: Pick<Times, 'questionMs'>;
}

export class HubSocketRooms implements SocketRooms {
  readonly #options: SocketRoomsOptions;

  constructor(options: SocketRoomsOptions) {
    this.#options = options;
  }

  find(id: string): SocketHost | undefined {
    return this.#options.hosts.get(id);
  }

  list(data: FleetData<'hosts'>): Buffer {
    return this.#options.lists.json(filterIn(data));
  }

  joinFleet(data: FleetData<'subscribe'>, follower: FleetFollower, client: Caller): FleetSubscription {
    const { view, ignored } = parseView(data.fields, data.detail ? '1' : null);
    return { ...this.#options.fleet.join(filterIn(data), view, follower, client), ignored };
  }

  async usage(id: string, view: View, client: Caller): Promise<Buffer> {
    const { hosts, asking } = this.#options;
    return await hosts.find(id).usage(view, asking.askerOf(client));
  }

  async ask(
    id: string,
    what: string,
    params: Params,
    client: Caller,
    follower?: Follower,
  ): Promise<AskedAnswer> {
    const { hosts, asking } = this.#options;
    return await asking.ask(hosts.find(id), what, params, client, follower);
  }

  async poll(id: string, what: string, params: Params): Promise<AskedAnswer> {
    const { hosts, clock, times } = this.#options;
    const deadlineMs = clock.now() + times.questionMs;
    return await hosts.find(id).ask({ what, params, who: NOBODY, deadlineMs });
  }
}

/** Throws ServiceError. */
function filterIn({ labels, state }: FleetData<'hosts'>): Filter {
  const query = new URLSearchParams(labels.map((label): [string, string] => ['label', label]));
  if (state !== undefined) query.append('state', state);
  return filterOf(query);
}
