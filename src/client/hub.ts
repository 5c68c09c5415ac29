/** Many machines behind one hub: their list, all in one stream or on one socket, each as a service of its own. */
import type { FleetEvent, FleetHost, HostList, HostRow, HostState } from '../wire/hub.ts';
import type { SystemDetail, SystemPayload } from '../wire/system.ts';
import { ENVIRONMENT, type Environment } from './environment.ts';
import { ClientError } from './errors.ts';
import { addressOf, queryOf, type ServiceAccess } from './http.ts';
import type { ErrorMessage, Message, SocketEvents, Topic } from './messages.ts';
import type { Section, StatsPayload } from './payload.ts';
import { answered } from './pending.ts';
import { type Answer, type ReadOptions, type RequestOptions, request } from './rest.ts';
import { connectIn, type HostSocket, LastingSocket } from './socket.ts';
import type { AskOptions, SocketOptions } from './socket-options.ts';
import {
  type LastingOptions,
  LastingStream,
  type StatsStream,
  type StreamOptions,
  streamStatsIn,
  viewOf,
} from './stream.ts';

/** Which machines: those that all of it holds for. */
export interface HostFilter {
  /** `NAME:VALUE` each. */
  readonly labels?: readonly string[] | undefined;
  readonly state?: HostState | undefined;
}

/** The machines of the hub at `url`, by id. Rejects as `request`. */
export async function hosts({
  labels,
  state,
  ...options
}: HostFilter & ReadOptions): Promise<readonly HostRow[]> {
  const query = queryOf({ label: labels, state });
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
  const query = queryOf({ ...viewOf(fields, detail), label: labels, state });
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

/** A machine of a hub, with what a service of its own has. */
export interface HubHost {
  readonly id: string;
  /** As `streamStats`. While the machine cannot be reached an open stream is silent. */
  stream<const S extends Section = Section, const D extends boolean = false>(
    options: Omit<StreamOptions<S, D>, keyof ServiceAccess>,
  ): StatsStream;
  /** One sample, at most a second old. */
  usage<const S extends Section = Section, const D extends boolean = false>(
    options?: Pick<StreamOptions<S, D>, 'fields' | 'detail'>,
  ): Promise<StatsPayload<S, D>>;
  system(): Promise<SystemPayload>;
  system(options: { readonly detail: true }): Promise<SystemDetail>;
  /** As `connect`: subscriptions and commands of this machine. */
  connect(options?: Omit<SocketOptions, keyof ServiceAccess>): HostSocket;
  /** As `request`, for a path below the machine: `media/control`. */
  request<T = unknown>(path: string, options?: Omit<RequestOptions, keyof ServiceAccess>): Promise<Answer<T>>;
}

/** The machine `id` of the hub at `url`. */
export function host(id: string, { url, key, pin }: ServiceAccess): HubHost {
  const access = { url, key, pin };
  const base = `api/hosts/${encodeURIComponent(id)}`;
  const read = async <T>(path: string) => (await request<T>(`${base}/${path}`, access)).data;
  return {
    id,
    stream: (wanted) => streamStatsIn({ ...wanted, ...access }, ENVIRONMENT, `${base}/stream`),
    usage: ({ fields, detail } = {}) => read(`usage?${queryOf(viewOf(fields, detail))}`),
    // Which of the two it is, the overloads say.
    system: (wanted?: { readonly detail: true }) =>
      read<SystemDetail>(wanted?.detail === true ? 'system?detail=1' : 'system'),
    connect: (wanted = {}) => connectIn({ ...wanted, ...access }, ENVIRONMENT, `${base}/ws`),
    request: (path, wanted = {}) => request(`${base}/${path.replace(/^\/+/, '')}`, { ...wanted, ...access }),
  };
}

/** A message about one machine. */
export interface OfHost<T> {
  readonly host: string;
  readonly data: T;
}

export type HostConditionMessage = Pick<HostRow, 'state' | 'since' | 'reason'>;

/** The events that are about no machine. */
type Common = Pick<SocketEvents, 'state' | 'closing'>;

/** The events of listeners. */
export type HubEvents = {
  readonly [E in Exclude<keyof SocketEvents, keyof Common | 'connected' | 'error'>]: OfHost<SocketEvents[E]>;
} & Common & {
    /** Whether the hub reaches a machine that is subscribed to: first, and when it changes. */
    readonly host: OfHost<HostConditionMessage>;
    readonly fleet: FleetView;
    /** `host`: absent where it is about no machine. */
    readonly error: ErrorMessage & { readonly host?: string };
  };

export type FleetTopicOptions = Pick<FleetOptions, 'labels' | 'state' | 'fields' | 'detail'>;

/** The machines of a subscription that the hub does not know. */
export interface HubSubscribed {
  readonly unknown: readonly string[];
}

export interface HubSocket extends Pick<ManySocket, Exclude<keyof ManySocket, 'host'>> {
  /** Questions and commands of one machine. */
  host(id: string): ReturnType<ManySocket['host']>;
}

/**
 * Connects to `/api/ws` of the hub at `url`, and again after each loss, until it is closed or refused (401, 403). What
 * `connect` says of commands and errors holds here as well.
 */
export function connectHub(options: SocketOptions): HubSocket {
  return connectHubIn(options, ENVIRONMENT);
}

/** The same with an environment that tests provide. */
export function connectHubIn(options: SocketOptions, environment: Environment): HubSocket {
  return new ManySocket(options, environment, 'api/ws');
}

class ManySocket extends LastingSocket<HubEvents> {
  #fleet: FleetTopicOptions | undefined;
  #fleetState = new FleetState();

  /**
   * Subscribes for the life of the socket to these topics of these machines, in the place of what it had of them. Resolves
   * when the hub has answered, over a later connection if need be.
   */
  async subscribe(
    hosts: readonly string[],
    topics: readonly Topic[],
    { detail }: { readonly detail?: boolean | undefined } = {},
  ): Promise<HubSubscribed> {
    const { unknown = [] } = await this.subscriber.change(hosts, { kind: 'replace', topics, detail });
    return { unknown };
  }

  /** Default: all machines. */
  unsubscribe(hosts?: readonly string[]): void {
    const known = this.subscriber.hosts.filter(
      (host) => host !== undefined && hosts?.includes(host) !== false,
    );
    this.subscriber.change(known, { kind: 'remove' }).catch(() => undefined);
  }

  /** Subscribes to all machines that match, in the place of an earlier filter: event `fleet`. */
  subscribeFleet(options: FleetTopicOptions = {}): void {
    this.#fleet = options;
    this.#sendFleet();
  }

  unsubscribeFleet(): void {
    this.#fleet = undefined;
    if (this.requests.isOpen) this.#ask('unsubscribe', { topics: ['fleet'] });
  }

  async hosts({ labels, state }: HostFilter = {}, options?: AskOptions): Promise<readonly HostRow[]> {
    const take = answered<HostList>('hosts');
    return (await this.requests.start({ op: 'hosts', data: { labels, state }, options, take })).hosts;
  }

  protected override connected(data: unknown): void {
    super.connected(data);
    this.#sendFleet();
  }

  protected override received({ type, host, data }: Message): void {
    if (type === 'fleet') {
      // The hub's contract.
      const event = data as Parameters<FleetState['take']>[0];
      this.emit('fleet', this.#fleetState.take(event));
    } else this.emit(type, host === undefined ? data : { host, data });
  }

  #sendFleet(): void {
    if (this.#fleet === undefined || !this.requests.isOpen) return;
    const { labels, state, fields, detail } = this.#fleet;
    this.#fleetState = new FleetState();
    this.#ask('subscribe', { topics: ['fleet'], labels, state, fields, detail });
  }

  /** Changes the fleet topic; a refusal is an event. */
  #ask(op: string, data: object): void {
    this.requests
      .start({ op, data, kind: 'subscription', take: answered('subscribed') })
      .catch((error: unknown) => {
        if (!(error instanceof ClientError) || error.code === 'connection_lost') return;
        if (this.requests.end === undefined) this.refuse(error);
      });
  }
}
