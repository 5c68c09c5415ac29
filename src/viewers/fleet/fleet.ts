/**
 * All machines in one stream: /api/fleet/stream, and the topic `fleet` of WebSockets. One event per interval with
 * the machines that changed.
 */

import type { Caller } from '../../access/caller.ts';
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { PLACES } from '../../fairness/limits.ts';
import { Places } from '../../fairness/places.ts';
import type { EventBook } from '../../history/event-book.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Headers } from '../../http/reply.ts';
import type { FollowedTopic, TopicSink } from '../../machine/machine.ts';
import type { View } from '../../stats/view.ts';
import type { FleetFilter } from './fleet-filter.ts';
import { FleetGroup, type FleetMember, type GroupDeps } from './fleet-group.ts';
import { HostLists, type Inventory } from './host-lists.ts';

const keyOf = (filter: FleetFilter, view: View) => `${view.index} ${filter.key}`;

export interface FleetDeps extends GroupDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer' | 'clearTimer'>;
  readonly registry: Inventory;
  readonly events: Pick<EventBook, 'onEvent'>;
}

export class Fleet {
  readonly #deps: FleetDeps;
  readonly lists: HostLists;
  readonly #groups = new Map<string, FleetGroup>();
  #intervalMs: number;
  #timer: unknown;

  constructor(deps: FleetDeps, intervalMs: number) {
    this.#deps = deps;
    this.lists = new HostLists(deps.hosts, deps.registry, deps.clock);
    this.#intervalMs = intervalMs;
  }

  /** Throws ServiceError. */
  open(exchange: Exchange, filter: FleetFilter, view: View, headers: Headers, caller: Caller): void {
    const group = this.#groupOf(filter, view, caller);
    group.open(exchange, headers, caller);
    // Its peer has gone already.
    if (group.isEmpty) this.#end(keyOf(filter, view), group);
  }

  /** Sends the events to a WebSocket as well; returns its group, which it leaves again. Throws ServiceError. */
  join(filter: FleetFilter, view: View, member: FleetMember, caller: Caller): FleetGroup {
    const group = this.#groupOf(filter, view, caller);
    group.join(member, caller);
    return group;
  }

  /** The one topic of all machines: their events. */
  followTopic(_: 'events', { onPayload }: Pick<TopicSink, 'onPayload'>): FollowedTopic {
    const end = this.#deps.events.onEvent((event) => onPayload(JSON.stringify(event)));
    return { end, isReliable: true };
  }

  #groupOf(filter: FleetFilter, view: View, caller: Caller): FleetGroup {
    const key = keyOf(filter, view);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    if (!filter.isEmpty && !this.#hasCapacity(caller))
      throw new ServiceError('too_many_streams', 'Too many different filters are in use.');
    const group: FleetGroup = new FleetGroup(this.#deps, filter, view, () => this.#end(key, group));
    this.#groups.set(key, group);
    this.#timer ??= this.#deps.clock.setTimer(() => this.#tick(), this.#intervalMs);
    return group;
  }

  /** Whether this client may begin a group with a filter: those without one are as many as there are views. */
  #hasCapacity(caller: Caller): boolean {
    const room = new Places(PLACES.fleetGroups.max);
    for (const group of this.#groups.values()) if (group.isFiltered) room.add(group.holder);
    return room.hasCapacity(caller);
  }

  reconfigure(intervalMs: number): void {
    this.#intervalMs = intervalMs;
  }

  close(): void {
    this.#deps.clock.clearTimer(this.#timer);
    for (const group of this.#groups.values()) group.close();
  }

  #tick(): void {
    this.#timer =
      this.#groups.size === 0 ? undefined : this.#deps.clock.setTimer(() => this.#tick(), this.#intervalMs);
    for (const group of this.#groups.values()) group.tick();
  }

  #end(key: string, group: FleetGroup): void {
    if (this.#groups.delete(key)) group.close();
  }
}
