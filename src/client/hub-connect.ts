/** The WebSocket API of a hub as an object: many machines on one socket. */
import type { HistoryEvent } from '../wire/history.ts';
import type { HostList, HostRow } from '../wire/hub.ts';
import type { TopicEvents } from '../wire/topics.ts';
import { Asker } from './calls.ts';
import { ENVIRONMENT, type Environment } from './environment.ts';
import { ClientError } from './errors.ts';
import { HostCalls } from './host-calls.ts';
import { type FleetOptions, FleetState, type FleetView, type HostFilter } from './hub.ts';
import { type HubSubscribed, HubSubscriber } from './hub-subscriber.ts';
import { LastingSocket } from './lasting-socket.ts';
import type {
  AnyStats,
  ErrorMessage,
  Feedback,
  Message,
  ProcessCommandFeedback,
  Topic,
  WakeFeedback,
} from './messages.ts';
import { answered, errorMessage } from './pending.ts';
import type { AskOptions, SocketOptions } from './socket-options.ts';
import type { ConnectionState } from './state.ts';

/** A message about one machine. */
export interface OfHost<T> {
  readonly host: string;
  readonly data: T;
}

export type HostConditionMessage = Pick<HostRow, 'state' | 'since' | 'reason'>;

/** The events of listeners. */
export type HubEvents = {
  readonly [E in keyof TopicEvents]: OfHost<TopicEvents[E]>;
} & {
  readonly state: ConnectionState;
  readonly system_stats: OfHost<AnyStats>;
  /** An event of the topic `events` of machines behind a broker: the condition of a watch rule has begun or ended. */
  readonly event: OfHost<HistoryEvent>;
  /** Feedback for commands of other clients, and for own commands whose promise is settled. */
  readonly media_feedback: OfHost<Feedback>;
  readonly process_feedback: OfHost<ProcessCommandFeedback>;
  readonly power_feedback: OfHost<Feedback>;
  readonly wake_feedback: OfHost<WakeFeedback>;
  /** Whether the hub reaches a machine that is subscribed to: first, and when it changes. */
  readonly host: OfHost<HostConditionMessage>;
  readonly fleet: FleetView;
  readonly closing: { readonly reason: string };
  /** `host`: absent where it is about no machine. */
  readonly error: ErrorMessage & { readonly host?: string };
};

export type FleetTopicOptions = Pick<FleetOptions, 'labels' | 'state' | 'fields' | 'detail'>;

export interface HubSocket {
  readonly state: ConnectionState;
  /** Calls `listener` on each event of `type`, until `closed`; returns a function that removes it. */
  on<E extends keyof HubEvents & string>(type: E, listener: (value: HubEvents[E]) => void): () => void;
  /**
   * Subscribes for the life of the socket to these topics of these machines, in the place of what it had of them. Resolves
   * when the hub has answered, over a later connection if need be.
   */
  subscribe(
    hosts: readonly string[],
    topics: readonly Topic[],
    options?: { readonly detail?: boolean | undefined },
  ): Promise<HubSubscribed>;
  /** Default: all machines. */
  unsubscribe(hosts?: readonly string[]): void;
  /** Subscribes to all machines that match, in the place of an earlier filter: event `fleet`. */
  subscribeFleet(options?: FleetTopicOptions): void;
  unsubscribeFleet(): void;
  hosts(filter?: HostFilter, options?: AskOptions): Promise<readonly HostRow[]>;
  /** Questions and commands of one machine. */
  host(id: string): HostCalls;
  /** The round-trip time to the hub, in milliseconds. */
  ping(options?: AskOptions): Promise<number>;
  /** Closes the socket for good; pending promises reject with `closed`. */
  close(): void;
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
  return new ManySocket(options, environment);
}

class ManySocket extends LastingSocket<HubEvents> implements HubSocket {
  readonly #timeoutMs: number | undefined;
  readonly #subscriber: HubSubscriber;
  #fleet: FleetTopicOptions | undefined;
  #fleetState = new FleetState();

  constructor(options: SocketOptions, environment: Environment) {
    super(options, environment, 'api/ws');
    this.#timeoutMs = options.timeoutMs;
    this.#subscriber = new HubSubscriber(this.requests, (error) => this.refuse(error));
    void this.start(options.signal);
  }

  subscribe(
    hosts: readonly string[],
    topics: readonly string[],
    { detail = false }: { readonly detail?: boolean | undefined } = {},
  ): Promise<HubSubscribed> {
    return this.#subscriber.subscribe(hosts, { topics, detail });
  }

  unsubscribe(hosts?: readonly string[]): void {
    this.#subscriber.unsubscribe(hosts);
  }

  subscribeFleet(options: FleetTopicOptions = {}): void {
    this.#fleet = options;
    this.#sendFleet();
  }

  unsubscribeFleet(): void {
    this.#fleet = undefined;
    if (this.requests.isOpen) this.#ask('unsubscribe', { topics: ['fleet'] });
  }

  async hosts({ labels, state }: HostFilter = {}, options: AskOptions = {}): Promise<readonly HostRow[]> {
    return (await this.asker.ask('hosts', { labels, state }, options, answered<HostList>('hosts'))).hosts;
  }

  host(id: string): HostCalls {
    return new HostCalls(new Asker(this.requests, this.#timeoutMs, { host: id }));
  }

  protected override opened(): void {
    this.#subscriber.open();
    this.#sendFleet();
  }

  protected override received({ type, host, data }: Message): void {
    if (type === 'fleet') {
      // The hub's contract.
      const event = data as Parameters<FleetState['take']>[0];
      this.listeners.emit('fleet', this.#fleetState.take(event));
    } else if (type === 'error') {
      const error = errorMessage(data);
      this.listeners.emit(type, host === undefined ? error : { ...error, host });
    } else this.listeners.emit(type, host === undefined ? data : { host, data });
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
      .start({
        op,
        data,
        kind: 'subscription',
        limitMs: undefined,
        signal: undefined,
        take: answered('subscribed'),
      })
      .catch((error: unknown) => {
        if (!(error instanceof ClientError) || error.code === 'connection_lost') return;
        if (this.requests.end === undefined) this.refuse(error);
      });
  }
}
