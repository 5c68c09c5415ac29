/**
 * All machines in one stream: /api/fleet/stream, and the topic `fleet` of WebSockets. One event per interval with
 * the machines that changed.
 */
import type { Clock } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { SharedCapacity } from '../../fairness/shared-capacity.ts';
import type { Caller } from '../../access/caller.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Headers } from '../../http/reply.ts';
import type { View } from '../../stats/view.ts';
import type { FleetMember, FleetPlace } from '../socket/fleet-subscription.ts';
import type { EventCounters } from '../stream/stream-server.ts';
import type { FleetFilter } from './fleet-filter.ts';
import { type FleetDeps, FleetGroup } from './fleet-group.ts';
import type { FleetMachines } from './fleet-machine.ts';

/**
 * Groups with a filter: each makes an event of its own per interval. Those without one are as many as there are views, so
 * that a viewer of all machines always gets in.
 */
const MAX_GROUPS = 64;

const keyOf = (filter: FleetFilter, view: View) => `${view.index} ${filter.key}`;

export class Fleet {
  readonly #deps: FleetDeps & { readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'> };
  readonly #machines: FleetMachines;
  readonly #groups = new Map<string, FleetGroup>();
  #intervalMs: number;
  #timer: unknown;
  #closed: EventCounters = { sent: 0, skipped: 0 };

  constructor(
    deps: FleetDeps & { readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'> },
    machines: FleetMachines,
    intervalMs: number,
  ) {
    this.#deps = deps;
    this.#machines = machines;
    this.#intervalMs = intervalMs;
  }

  get eventCounters(): EventCounters {
    let { sent, skipped } = this.#closed;
    for (const { fanout } of this.#groups.values()) {
      sent += fanout.eventCounters.sent;
      skipped += fanout.eventCounters.skipped;
    }
    return { sent, skipped };
  }

  /** Throws ServiceError. */
  open(exchange: Exchange, filter: FleetFilter, view: View, headers: Headers, caller: Caller): void {
    const group = this.#groupOf(filter, view, caller);
    group.open(exchange, headers, caller);
    // Its peer has gone already.
    if (group.isEmpty) this.#end(keyOf(filter, view), group);
  }

  /** Sends the events to a WebSocket as well. Throws ServiceError. */
  join(filter: FleetFilter, view: View, follower: FleetMember, caller: Caller): FleetPlace {
    const group = this.#groupOf(filter, view, caller);
    group.join(follower, caller);
    return { whole: () => group.whole(), leave: () => group.leave(follower) };
  }

  #groupOf(filter: FleetFilter, view: View, caller: Caller): FleetGroup {
    const key = keyOf(filter, view);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    if (!filter.isEmpty && !this.#hasCapacity(caller))
      throw new ServiceError('too_many_streams', 'No more different filters can be used now.');
    const group: FleetGroup = new FleetGroup(this.#deps, this.#machines, filter, view, () =>
      this.#end(key, group),
    );
    this.#groups.set(key, group);
    this.#timer ??= this.#deps.clock.setTimer(() => this.#tick(), this.#intervalMs);
    return group;
  }

  /** Whether this client may begin a group, beside those that others hold. */
  #hasCapacity(caller: Caller): boolean {
    const room = new SharedCapacity(MAX_GROUPS);
    for (const group of this.#groups.values()) if (group.isFiltered) room.add(group.holder);
    return room.hasCapacity(caller);
  }

  reconfigure(intervalMs: number): void {
    this.#intervalMs = intervalMs;
  }

  revalidate(passes: (caller: Caller) => boolean): void {
    for (const { fanout } of this.#groups.values()) fanout.revalidate(passes);
  }

  /** Returns how many viewers still have to take what they were sent before. */
  close(): number {
    this.#deps.clock.clearTimer(this.#timer);
    return [...this.#groups.values()].reduce((full, group) => full + group.close(), 0);
  }

  #tick(): void {
    this.#timer =
      this.#groups.size === 0 ? undefined : this.#deps.clock.setTimer(() => this.#tick(), this.#intervalMs);
    for (const group of this.#groups.values()) group.tick();
  }

  #end(key: string, group: FleetGroup): void {
    if (!this.#groups.delete(key)) return;
    const { sent, skipped } = group.fanout.eventCounters;
    this.#closed = { sent: this.#closed.sent + sent, skipped: this.#closed.skipped + skipped };
    group.close();
  }
}
