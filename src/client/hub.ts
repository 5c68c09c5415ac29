/** Many machines behind one hub: their list, all of them in one stream, and each of them as a service of its own. */
import type { FleetEvent, FleetHost, HostList, HostRow, HostState } from '../wire/hub.ts';
import type { SystemDetail, SystemPayload } from '../wire/system.ts';
import { ENVIRONMENT } from './environment.ts';
import { addressOf } from './http.ts';
import type { Section, StatsPayload } from './payload.ts';
import { type Answer, type ReadOptions, type RequestOptions, request } from './rest.ts';
import { connectIn, type HostSocket } from './socket.ts';
import type { SocketOptions } from './socket-options.ts';
import {
  type LastingOptions,
  LastingStream,
  type StatsStream,
  type StreamOptions,
  streamStatsIn,
  viewQuery,
} from './stream.ts';

/** Which machines: those that all of it holds for. */
export interface HostFilter {
  /** `NAME:VALUE` each. */
  readonly labels?: readonly string[] | undefined;
  readonly state?: HostState | undefined;
}

/** `query` with the parameters of the filter. */
function filtered({ labels = [], state }: HostFilter, query = new URLSearchParams()): URLSearchParams {
  for (const label of labels) query.append('label', label);
  if (state !== undefined) query.set('state', state);
  return query;
}

/** The machines of the hub at `url`, by id. Rejects as `request`. */
export async function hosts({
  labels,
  state,
  ...options
}: HostFilter & ReadOptions): Promise<readonly HostRow[]> {
  const query = filtered({ labels, state });
  return (await request<HostList>(`/api/hosts?${query}`, options)).data.hosts;
}

/** The state of the fleet after an event. */
export interface FleetView {
  /** Every machine that matches, by id. */
  readonly hosts: ReadonlyMap<string, FleetHost>;
  /** The ids of those that the event had. */
  readonly changed: readonly string[];
  /** The ids of those that it took away. */
  readonly removed: readonly string[];
  /** Unix seconds of the hub's clock. */
  readonly at: number;
}

export interface FleetOptions extends HostFilter, LastingOptions {
  /** The sections of the samples. Default: all, which is much for many machines. */
  readonly fields?: readonly Section[] | undefined;
  readonly detail?: boolean | undefined;
  readonly onChange: (fleet: FleetView) => void;
}

/**
 * Subscribes to all machines of the hub at `url` that match, and again after each loss, until it is closed or refused.
 * Throws a TypeError when `url` or `pin` is invalid.
 */
export function streamFleet(options: FleetOptions): StatsStream {
  const { labels, state, fields, detail, onChange } = options;
  const fleet = new FleetState();
  const query = filtered({ labels, state }, viewQuery(fields, detail));
  const address = addressOf(options.url, 'api/fleet/stream', query);
  // The hub's contract.
  const onPayload = (payload: object) => onChange(fleet.take(payload as FleetEvent));
  return new LastingStream(options, ENVIRONMENT, address, onPayload);
}

/** The state of the fleet, built from its events. */
export class FleetState {
  readonly #hosts = new Map<string, FleetHost>();

  take({ at, all, hosts: found, removed }: FleetEvent): FleetView {
    const gone = all ? [...this.#hosts.keys()].filter((id) => !Object.hasOwn(found, id)) : removed;
    for (const id of gone) this.#hosts.delete(id);
    for (const [id, host] of Object.entries(found)) this.#hosts.set(id, host);
    return { hosts: this.#hosts, changed: Object.keys(found), removed: gone, at };
  }
}

interface UsageOptions<S extends Section, D extends boolean> {
  readonly fields?: readonly S[] | undefined;
  readonly detail?: D | undefined;
}

/** A machine of a hub, with what a service of its own has. */
export interface HubHost {
  readonly id: string;
  /** As `streamStats`. While the machine cannot be reached an open stream is silent. */
  stream<const S extends Section = Section, const D extends boolean = false>(
    options: Omit<StreamOptions<S, D>, 'url' | 'key' | 'pin'>,
  ): StatsStream;
  /** One sample, at most a second old. */
  usage<const S extends Section = Section, const D extends boolean = false>(
    options?: UsageOptions<S, D>,
  ): Promise<StatsPayload<S, D>>;
  system(): Promise<SystemPayload>;
  system(options: { readonly detail: true }): Promise<SystemDetail>;
  /** As `connect`: subscriptions and commands of this machine. */
  connect(options?: Omit<SocketOptions, 'url' | 'key' | 'pin'>): HostSocket;
  /** As `request`, for a path below the machine: `media/control`. */
  request<T = unknown>(
    path: string,
    options?: Omit<RequestOptions, 'url' | 'key' | 'pin'>,
  ): Promise<Answer<T>>;
}

/** The machine `id` of the hub at `url`. */
export function host(id: string, options: Pick<RequestOptions, 'url' | 'key' | 'pin'>): HubHost {
  const { url, key, pin } = options;
  const access = { url, key, pin };
  const base = `api/hosts/${encodeURIComponent(id)}`;
  const read = async <T>(path: string) => (await request<T>(`${base}/${path}`, access)).data;
  return {
    id,
    stream: (wanted) => streamStatsIn({ ...wanted, ...access }, ENVIRONMENT, `${base}/stream`),
    usage: ({ fields, detail } = {}) => read(`usage?${viewQuery(fields, detail)}`),
    // Which of the two it is, the overloads say.
    system: (wanted?: { readonly detail: true }) =>
      read<SystemDetail>(wanted?.detail === true ? 'system?detail=1' : 'system'),
    connect: (wanted = {}) => connectIn({ ...wanted, ...access }, ENVIRONMENT, `${base}/ws`),
    request: (path, wanted = {}) => request(`${base}/${path.replace(/^\/+/, '')}`, { ...wanted, ...access }),
  };
}
