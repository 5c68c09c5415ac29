/** The machines of the hub as viewers see them: the only file between viewers and the ways in which the hub reaches a machine. */

import { type Caller, OWN_ACCOUNT } from '../access/caller.ts';
import type { Hosts } from '../agent/remote/hosts.ts';
import type { RemoteHost } from '../agent/remote/remote.ts';
import { ServiceError } from '../errors.ts';
import { ALL_SECTIONS } from '../host/host.ts';
import { parseObject } from '../json.ts';
import type { FollowedTopic, Machine, MachineAnswer, MachineRequest, TopicSink } from '../machine/machine.ts';
import type { Registry } from '../machine/registry.ts';
import { ALL_SCOPES, allows, type Scopes, scopesOf } from '../scopes.ts';
import { type View, viewOf } from '../stats/view.ts';
import type { MachineSample, MachineSink, MachineSubscription } from '../streams/sample.ts';
import type { CommandGateway } from './commands/command-gateway.ts';

/** The question about the history with the shortest answer. */
const LEAST_HISTORY = { what: 'history', params: { series: ['none'], since: -1 }, client: OWN_ACCOUNT };

const EVERYTHING = viewOf(ALL_SECTIONS, true);

/** What is known of machines that are not there. */
type Memory = Pick<Registry, 'usage' | 'system' | 'takeUsage'>;

class RemoteMachine implements Machine {
  readonly #host: RemoteHost;
  readonly #gateway: CommandGateway;
  readonly #registry: Memory;

  constructor(host: RemoteHost, gateway: CommandGateway, registry: Memory) {
    this.#host = host;
    this.#gateway = gateway;
    this.#registry = registry;
  }

  get id(): string {
    return this.#host.id;
  }

  get condition(): RemoteHost['condition'] {
    return this.#host.condition;
  }

  subscribe(view: View, sink?: MachineSink): MachineSubscription {
    return this.#host.subscribe(view, sink);
  }

  /** No next one is near: machines send samples when they like. */
  async first<T>(view: View, begin: (sample: MachineSample, isNextNear: boolean) => T): Promise<T> {
    return await this.#host.first(view, (sample) => begin(sample, false));
  }

  async usage(view: View, client: Caller): Promise<Buffer> {
    const registry = this.#registry;
    const bytes = await this.#orLast(this.#host.usage(view, client), () =>
      registry.usage(this.id, view.sections),
    );
    if (view.sections === ALL_SECTIONS && this.#host.isUp)
      registry.takeUsage(this.id, () => parseObject(bytes));
    return bytes;
  }

  /** The payload of a sample with detail, at most a second old. Rejects with ServiceError, also if it is not there. */
  async detailed(client: Caller): Promise<Buffer> {
    return await this.#host.usage(EVERYTHING, client);
  }

  /** The answer of the machine; if it is not there the last one that is known, with its time. */
  async #orLast(answer: Promise<Buffer>, last: () => string | undefined): Promise<Buffer> {
    try {
      return await answer;
    } catch (error) {
      const known = this.#host.isUp ? undefined : last();
      if (known === undefined || !(error instanceof ServiceError) || error.code !== 'host_unreachable')
        throw error;
      return Buffer.from(known);
    }
  }

  async ask({ what, params, client, follower }: MachineRequest): Promise<MachineAnswer> {
    if (what !== 'system') return await this.#gateway.ask(this.#host, what, params, client, follower);
    const answer = this.#host.system(params['detail'] === true, client);
    return { bytes: await this.#orLast(answer, () => this.#registry.system(this.id)) };
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

/** The most ids that an error names. */
const MAX_IDS = 16;

/** The figures of the hub itself. */
const METRICS = scopesOf(['metrics']);

/** The machines of the hub, each the same object as long as the hub has it. */
export class RemoteMachines {
  readonly #hosts: Pick<Hosts, 'get' | 'all'>;
  readonly #gateway: CommandGateway;
  readonly #registry: Memory;
  readonly #machines = new WeakMap<RemoteHost, RemoteMachine>();

  constructor(hosts: Pick<Hosts, 'get' | 'all'>, gateway: CommandGateway, registry: Memory) {
    this.#hosts = hosts;
    this.#gateway = gateway;
    this.#registry = registry;
  }

  /** undefined: there is none of this id; for a caller without `read` also where it may use nothing on that machine. */
  find(id: string, caller: Caller): RemoteMachine | undefined {
    const host = this.#hosts.get(id);
    return host && this.#isKnownTo(caller, host) ? this.#of(host) : undefined;
  }

  /** As `find`, also by its name, where only one has it. Throws ServiceError. */
  get(idOrName: string, caller: Caller): RemoteMachine {
    const machine = this.find(idOrName, caller);
    if (machine !== undefined) return machine;
    const named = this.#hosts.all.filter((host) => host.name === idOrName && this.#isKnownTo(caller, host));
    const [only, another] = named;
    if (only !== undefined && another === undefined) return this.#of(only);
    const ids = named.slice(0, MAX_IDS).map(({ id }) => id);
    if (ids.length > 0)
      throw new ServiceError('not_found', 'Several machines have that name; use the id of one.', { ids });
    const which = allows(caller.scopes, 'read') ? '' : ' on which this key may do anything';
    throw new ServiceError('not_found', `This hub has no machine of that name${which}.`);
  }

  #isKnownTo(caller: Caller, host: RemoteHost): boolean {
    return allows(caller.scopes, 'read') || (this.#gateway.scopesAt(host, caller) & ~METRICS) !== 0;
  }

  #of(host: RemoteHost): RemoteMachine {
    const machine = this.#machines.get(host) ?? new RemoteMachine(host, this.#gateway, this.#registry);
    this.#machines.set(host, machine);
    return machine;
  }
}
