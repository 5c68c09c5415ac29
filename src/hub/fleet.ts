/**
 * /api/fleet/stream: one event per interval with the hosts that changed. Viewers with the same filter and view are one
 * group, whose event is made once. Samples are joined as bytes.
 */
import { ServiceError } from '../errors.ts';
import type { Caller } from '../http/clients/caller.ts';
import type { Exchange } from '../http/engine.ts';
import type { Headers } from '../http/reply.ts';
import { Fanout } from '../http/stream/fanout.ts';
import type { EventCounters, SampleEvents } from '../http/stream/stream-hub.ts';
import type { Demand } from '../stats/source.ts';
import type { View } from '../stats/view.ts';
import type { Filter } from './filter.ts';
import type { Host } from './host.ts';
import type { Hosts } from './hosts.ts';
import type { HubParts } from './parts.ts';
import type { HostSample } from './sample.ts';

/** Each makes an event of its own per interval. */
const MAX_GROUPS = 64;
const BEGIN = Buffer.from('data: ');
const SAMPLE = Buffer.from(',"sample":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');

/** What a group has sent of a host. */
interface Sent {
  readonly host: Host;
  readonly version: number;
  readonly sample: HostSample | undefined;
}

const keyOf = (filter: Filter, view: View) => `${view.index} ${filter.key}`;

/** The newest sample of `host` for `view`, where it is a sample. */
function sampleOf(host: Host, view: View): HostSample | undefined {
  const { current } = host.laneOf(view);
  return current?.has(view) === true && current.isValid ? current : undefined;
}

function partsOf({ id, condition }: Host, sample: HostSample | undefined, view: View): readonly Buffer[] {
  const head = Buffer.from(`${JSON.stringify(id)}:${JSON.stringify(condition).slice(0, -1)}`);
  return sample === undefined ? [head, CLOSE] : [head, SAMPLE, sample.payload(view), CLOSE];
}

class Group {
  readonly #hosts: Hosts;
  readonly #filter: Filter;
  readonly #view: View;
  readonly fanout: Fanout;
  /** The hosts whose samples it has subscribed to. */
  readonly #subscribed = new Set<Host>();
  #sent = new Map<string, Sent>();
  #whole: Buffer | undefined;

  constructor(parts: HubParts, hosts: Hosts, filter: Filter, view: View, onEmpty: () => void) {
    this.#hosts = hosts;
    this.#filter = filter;
    this.#view = view;
    const { clock, ledger, tally, viewers, stallLimitSeconds } = parts;
    let size = 0;
    const source: Demand = {
      subscribe: () => {
        viewers.size++;
        size++;
      },
      unsubscribe: () => {
        viewers.size--;
        if (--size === 0) onEmpty();
      },
    };
    this.fanout = new Fanout({ source, clock, ledger, tally });
    this.fanout.stallLimitSeconds = stallLimitSeconds();
    this.follow();
    this.#compose();
  }

  open(exchange: Exchange, headers: Headers, caller: Caller): void {
    this.fanout.open(exchange, this.#view, { event: () => this.#makeWhole() }, headers, caller, false);
  }

  /** Subscribes to the hosts that the filter concerns. */
  follow(): void {
    const view = this.#view;
    const wanted = new Set(this.#hosts.all.filter((host) => this.#filter.concerns(host)));
    for (const host of wanted) {
      if (this.#subscribed.has(host)) continue;
      this.#subscribed.add(host);
      host.laneOf(view).subscribe(view);
    }
    for (const host of this.#subscribed) if (!wanted.has(host)) this.#leave(host);
  }

  tick(): void {
    const event = this.#compose();
    if (event === undefined) return;
    const events: SampleEvents = { event: () => event, whole: () => this.#makeWhole() };
    this.fanout.publish(events);
  }

  /** Returns how many viewers still have to take what they were sent before. */
  close(): number {
    const full = this.fanout.close();
    for (const host of this.#subscribed) this.#leave(host);
    return full;
  }

  #leave(host: Host): void {
    this.#subscribed.delete(host);
    host.laneOf(this.#view).unsubscribe(this.#view);
  }

  /** The event of what changed since the last one; undefined: nothing. */
  #compose(): Buffer | undefined {
    const before = this.#sent;
    const now = new Map<string, Sent>();
    const changed: Sent[] = [];
    for (const host of this.#subscribed) {
      if (!this.#filter.matches(host)) continue;
      const sent = { host, version: host.version, sample: sampleOf(host, this.#view) };
      const last = before.get(host.id);
      const isSame = last?.host === host && last.version === sent.version && last.sample === sent.sample;
      if (!isSame) changed.push(sent);
      now.set(host.id, isSame ? last : sent);
    }
    const removed = [...before.keys()].filter((id) => !now.has(id));
    if (changed.length === 0 && removed.length === 0) return undefined;
    this.#sent = now;
    this.#whole = undefined;
    return this.#join(changed, removed, false);
  }

  /** For a viewer that has nothing yet, or has missed an event: as of the last event, so that the next one follows it. */
  #makeWhole(): Buffer {
    this.#whole ??= this.#join([...this.#sent.values()], [], true);
    return this.#whole;
  }

  #join(hosts: readonly Sent[], removed: readonly string[], isAll: boolean): Buffer {
    const parts: Buffer[] = [
      BEGIN,
      Buffer.from(`{"at":${(Date.now() / 1000).toFixed(3)},"all":${isAll},"hosts":{`),
    ];
    for (const { host, sample } of hosts) {
      if (parts.length > 2) parts.push(COMMA);
      parts.push(...partsOf(host, sample, this.#view));
    }
    parts.push(Buffer.from(`},"removed":${JSON.stringify(removed)}}\n\n`));
    return Buffer.concat(parts);
  }
}

export class Fleet {
  readonly #parts: HubParts;
  readonly #hosts: Hosts;
  readonly #groups = new Map<string, Group>();
  #intervalMs: number;
  #timer: unknown;
  #closed: EventCounters = { sent: 0, skipped: 0 };

  constructor(parts: HubParts, hosts: Hosts, intervalMs: number) {
    this.#parts = parts;
    this.#hosts = hosts;
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
  open(exchange: Exchange, filter: Filter, view: View, headers: Headers, caller: Caller): void {
    const group = this.#groupOf(filter, view);
    group.open(exchange, headers, caller);
    // Its peer has gone already.
    if (group.fanout.size === 0) this.#end(keyOf(filter, view), group);
  }

  #groupOf(filter: Filter, view: View): Group {
    const key = keyOf(filter, view);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    if (this.#groups.size >= MAX_GROUPS)
      throw new ServiceError('too_many_streams', 'No more different filters can be used now.');
    const group: Group = new Group(this.#parts, this.#hosts, filter, view, () => this.#end(key, group));
    this.#groups.set(key, group);
    this.#timer ??= this.#parts.clock.setTimer(() => this.#tick(), this.#intervalMs);
    return group;
  }

  reconfigure(intervalMs: number): void {
    this.#intervalMs = intervalMs;
    for (const group of this.#groups.values()) group.follow();
  }

  judgeAgain(passes: (caller: Caller) => boolean): void {
    for (const { fanout } of this.#groups.values()) fanout.judgeAgain(passes);
  }

  /** Returns how many viewers still have to take what they were sent before. */
  close(): number {
    this.#parts.clock.clearTimer(this.#timer);
    return [...this.#groups.values()].reduce((full, group) => full + group.close(), 0);
  }

  #tick(): void {
    this.#timer =
      this.#groups.size === 0 ? undefined : this.#parts.clock.setTimer(() => this.#tick(), this.#intervalMs);
    for (const group of this.#groups.values()) group.tick();
  }

  #end(key: string, group: Group): void {
    if (!this.#groups.delete(key)) return;
    const { sent, skipped } = group.fanout.eventCounters;
    this.#closed = { sent: this.#closed.sent + sent, skipped: this.#closed.skipped + skipped };
    group.close();
  }
}
