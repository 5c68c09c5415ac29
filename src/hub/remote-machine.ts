/** The machines of the hub as viewers see them: the only file between viewers and the ways in which the hub reaches a machine. */

import { HUB_ITSELF } from '../agent/remote/ask.ts';
import type { Host } from '../agent/remote/host.ts';
import type { Hosts } from '../agent/remote/hosts.ts';
import type { Upstream } from '../agent/remote/upstream.ts';
import { ServiceError } from '../errors.ts';
import type { Caller } from '../access/caller.ts';
import type {
  FollowedTopic,
  Machine,
  MachineAnswer,
  MachineRequest,
  MachineSample,
  SampleFeed,
  SampleSink,
  TopicSink,
} from '../machine/machine.ts';
import { ALL_SCOPES, allows, type Scopes, scopesOf } from '../scopes.ts';
import type { View } from '../stats/view.ts';
import type { FleetMachine, FleetMachines } from '../viewers/fleet/fleet-machine.ts';
import type { HostRow } from '../wire/hub.ts';
import type { CommandGateway } from './commands/command-gateway.ts';

/** The samples of an upstream. */
class RemoteFeed implements SampleFeed {
  readonly #upstream: Upstream;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  subscribe(view: View): void {
    this.#upstream.subscribe(view);
  }

  unsubscribe(view: View): void {
    this.#upstream.unsubscribe(view);
  }

  first(view: View): MachineSample | undefined {
    const { current } = this.#upstream;
    return current?.has(view) === true && current.isValid ? current : undefined;
  }

  set sink(sink: SampleSink | undefined) {
    const upstream = this.#upstream;
    upstream.sink = sink && {
      publish() {
        if (upstream.current?.isValid === true) sink.publish(upstream.current);
      },
      forget: () => sink.forget(),
    };
  }
}

/** The question about the history with the shortest answer. */
const LEAST_HISTORY = { what: 'history', params: { series: ['none'], since: -1 }, client: HUB_ITSELF };

class RemoteMachine implements Machine, FleetMachine {
  readonly #host: Host;
  readonly #gateway: CommandGateway;
  readonly #feeds = new WeakMap<Upstream, RemoteFeed>();

  constructor(host: Host, gateway: CommandGateway) {
    this.#host = host;
    this.#gateway = gateway;
  }

  get id(): string {
    return this.#host.id;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#host.labels;
  }

  get condition(): Host['condition'] {
    return this.#host.condition;
  }

  get version(): number {
    return this.#host.version;
  }

  get row(): HostRow {
    return this.#host.row;
  }

  feedOf(view: View): SampleFeed {
    const upstream = this.#host.upstreamOf(view);
    const feed = this.#feeds.get(upstream) ?? new RemoteFeed(upstream);
    this.#feeds.set(upstream, feed);
    return feed;
  }

  async usage(view: View, client: Caller): Promise<Buffer> {
    return await this.#host.usage(view, client);
  }

  async ask({ what, params, client, follower }: MachineRequest): Promise<MachineAnswer> {
    if (what !== 'system') return await this.#gateway.ask(this.#host, what, params, client, follower);
    return { bytes: await this.#host.system(params['detail'] === true, client) };
  }

  check(name: string, client: Caller): void {
    // `media.`: any command of the group.
    this.#gateway.check(this.#host, name.endsWith('.') ? `${name}*` : name, client);
  }

  followTopic(name: string, sink: TopicSink): FollowedTopic | undefined {
    const end = this.#host.followTopic(name, sink);
    return end && { end, isReliable: false };
  }

  /** Returns the scopes that `caller` can use on this machine. */
  usableScopes(caller: Caller): Scopes {
    const { scopes } = this.#host.row;
    const ofHub = scopes === undefined ? ALL_SCOPES : scopesOf(scopes);
    return this.#gateway.scopesAt(this.#host, caller) & ofHub;
  }

  /** A machine that is not there may have a history. */
  async hasEvents(): Promise<boolean> {
    try {
      await this.ask(LEAST_HISTORY);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return error.code !== 'feature_disabled';
    }
  }
}

/** The figures of the hub itself. */
const METRICS = scopesOf(['metrics']);

/** The machines of the hub, each the same object as long as the hub has it. */
export class RemoteMachines implements FleetMachines {
  readonly #hosts: Pick<Hosts, 'all' | 'version' | 'get'>;
  readonly #gateway: CommandGateway;
  readonly #machines = new WeakMap<Host, RemoteMachine>();

  constructor(hosts: Pick<Hosts, 'all' | 'version' | 'get'>, gateway: CommandGateway) {
    this.#hosts = hosts;
    this.#gateway = gateway;
  }

  get all(): readonly FleetMachine[] {
    return this.#hosts.all.map((host) => this.of(host));
  }

  get version(): number {
    return this.#hosts.version;
  }

  /** undefined: there is none of this id; for a caller without `read` also where it may use nothing on that machine. */
  find(id: string, caller: Caller): RemoteMachine | undefined {
    const host = this.#hosts.get(id);
    const isKnown =
      allows(caller.scopes, 'read') || (host && this.#gateway.scopesAt(host, caller) & ~METRICS);
    return host && isKnown ? this.of(host) : undefined;
  }

  /** As `find`. Throws ServiceError. */
  get(id: string, caller: Caller): RemoteMachine {
    const machine = this.find(id, caller);
    if (machine !== undefined) return machine;
    const which = allows(caller.scopes, 'read') ? '' : ' on which this key may do anything';
    throw new ServiceError('not_found', `There is no machine of that id${which}.`);
  }

  of(host: Host): RemoteMachine {
    const machine = this.#machines.get(host) ?? new RemoteMachine(host, this.#gateway);
    this.#machines.set(host, machine);
    return machine;
  }
}
