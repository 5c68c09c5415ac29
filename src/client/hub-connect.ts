/** The WebSocket API of a hub as an object: many machines on one socket. */
import type { HostList, HostRow } from '../wire/hub.ts';
import { ENVIRONMENT, type Environment } from './environment.ts';
import { ClientError } from './errors.ts';
import { type FleetOptions, FleetState, type FleetView, type HostFilter } from './hub.ts';
import { LastingSocket } from './lasting-socket.ts';
import type { ErrorMessage, Message, SocketEvents, Topic } from './messages.ts';
import { answered, errorMessage } from './pending.ts';
import type { AskOptions, SocketOptions } from './socket-options.ts';

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

  protected override connected(): void {
    this.subscriber.open();
    this.#sendFleet();
  }

  protected override received({ type, host, data }: Message): void {
    if (type === 'fleet') {
      // The hub's contract.
      const event = data as Parameters<FleetState['take']>[0];
      this.emit('fleet', this.#fleetState.take(event));
    } else if (type === 'error') {
      const error = errorMessage(data);
      this.emit(type, host === undefined ? error : { ...error, host });
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
