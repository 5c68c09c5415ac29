/**
 * The viewers of /api/fleet/stream and of the topic `fleet` with the same filter and view: their event is made once per
 * interval. Samples are joined as bytes.
 */

import type { Caller } from '../../access/caller.ts';
import { deferToNextTurn } from '../../clock.ts';
import { QUOTAS } from '../../fairness/limits.ts';
import type { Counting } from '../../http/clients/viewer-counts.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Headers } from '../../http/reply.ts';
import type { Log } from '../../log/log.ts';
import type { Machines } from '../../machine/machines.ts';
import type { RemoteMachine } from '../../machine/remote.ts';
import type { View } from '../../stats/view.ts';
import type { Fanout } from '../../streams/fanout.ts';
import type { MachineSample, MachineSubscription } from '../../streams/sample.ts';
import { inSlices } from '../../streams/slices.ts';
import type { Streams } from '../../streams/streams.ts';
import type { FleetFilter } from './fleet-filter.ts';

const BEGIN = Buffer.from('data: ');
const SAMPLE = Buffer.from(',"sample":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');

/** A plain sample with 500 disks has 60 KB. */
const LARGE_BYTES = 64 * 1024;

/** A WebSocket that shows all machines. */
export interface FleetMember {
  /** `number`: that of the event, one more than that of the event before. */
  publish(event: Buffer, number: number): void;
}

/** The state of a machine as a group has sent it. */
interface Sent {
  readonly machine: RemoteMachine;
  readonly version: number;
  readonly sample: MachineSample | undefined;
}

/** undefined: none yet. */
function newestOf(subscription: MachineSubscription): MachineSample | undefined {
  const sample = subscription.newest();
  return sample instanceof Promise ? undefined : sample;
}

function partsOf({ id, condition }: RemoteMachine, payload: Buffer | undefined): readonly Buffer[] {
  const head = Buffer.from(`${JSON.stringify(id)}:${JSON.stringify(condition).slice(0, -1)}`);
  return payload === undefined ? [head, CLOSE] : [head, SAMPLE, payload, CLOSE];
}

/** The payloads of an event. Where all are too long for one, a few machines must not cost the others their viewers. */
function payloadsOf(sent: readonly Sent[], view: View): readonly (Buffer | undefined)[] {
  const payloads = sent.map(({ sample }) => sample?.payload(view));
  const bytes = payloads.reduce((sum, payload) => sum + (payload?.length ?? 0), 0);
  if (bytes <= QUOTAS.fleetSamples.maxBytes) return payloads;
  return payloads.map((payload) =>
    payload !== undefined && payload.length > LARGE_BYTES ? undefined : payload,
  );
}

/** Shared by all groups. */
export interface GroupDeps {
  readonly hosts: Pick<Machines, 'all' | 'version'>;
  readonly log: Log;
  readonly streams: Pick<Streams, 'create'>;
}

export class FleetGroup {
  readonly #deps: GroupDeps;
  #hasComplained = false;
  readonly #filter: FleetFilter;
  readonly #view: View;
  readonly #fanout: Fanout;
  /** The machines whose samples it has subscribed to, and the version of all then. */
  readonly #subscribed = new Map<RemoteMachine, MachineSubscription>();
  #version = -1;
  #sent = new Map<string, Sent>();
  #whole: Buffer | undefined;
  readonly #sockets = new Map<FleetMember, Caller>();
  /** How many viewers each address has, in the order in which the addresses came; those with the key have an empty one. */
  readonly #viewers = new Map<string, number>();
  /** The number of the newest event. */
  #number = 0;
  readonly #onEmpty: () => void;

  constructor(deps: GroupDeps, filter: FleetFilter, view: View, onEmpty: () => void) {
    this.#deps = deps;
    this.#onEmpty = onEmpty;
    this.#filter = filter;
    this.#view = view;
    const counts: Counting = {
      opened: (caller) => this.#add(caller),
      closed: (caller) => this.#remove(caller),
    };
    this.#fanout = deps.streams.create({ counts });
    this.#follow();
    this.#compose();
  }

  open(exchange: Exchange, headers: Headers, caller: Caller): void {
    this.#fanout.open({ exchange, headers, event: this.#makeWhole(), caller, skipsNext: false });
  }

  get isEmpty(): boolean {
    return this.#viewers.size === 0;
  }

  get isFiltered(): boolean {
    return !this.#filter.isEmpty;
  }

  /** The viewer that it is counted for: one with the key, otherwise that of the address that came first and is still here. */
  get holder(): Pick<Caller, 'address' | 'isKeyed'> {
    const [first = ''] = this.#viewers.has('') ? [] : this.#viewers.keys();
    return { address: first, isKeyed: first === '' };
  }

  /** Adds a WebSocket. */
  join(member: FleetMember, caller: Caller): void {
    this.#sockets.set(member, caller);
    this.#add(caller);
  }

  leave(member: FleetMember): void {
    const caller = this.#sockets.get(member);
    if (caller === undefined) return;
    this.#sockets.delete(member);
    this.#remove(caller);
  }

  /**
   * Returns an event with every machine that matches, with which a WebSocket begins, or continues after it has missed one,
   * and the number of the newest event that it contains.
   */
  whole(): { readonly event: Buffer; readonly number: number } {
    return { event: this.#makeWhole(), number: this.#number };
  }

  /** Subscribes to the machines that the filter concerns. */
  #follow(): void {
    const { hosts } = this.#deps;
    this.#version = hosts.version;
    const wanted = new Set(hosts.all.filter((machine) => this.#filter.concerns(machine)));
    for (const machine of wanted)
      if (!this.#subscribed.has(machine)) this.#subscribed.set(machine, machine.subscribe(this.#view));
    for (const [machine, subscription] of this.#subscribed)
      if (!wanted.has(machine)) {
        this.#subscribed.delete(machine);
        subscription.end();
      }
  }

  tick(): void {
    if (this.#version !== this.#deps.hosts.version) this.#follow();
    const bytes = this.#compose();
    if (bytes === undefined) return;
    const number = ++this.#number;
    this.#fanout.publish({ bytes, whole: () => this.#makeWhole() });
    inSlices([...this.#sockets.keys()], deferToNextTurn, (member) => {
      if (this.#sockets.has(member)) member.publish(bytes, number);
    });
  }

  close(): void {
    this.#fanout.close();
    for (const subscription of this.#subscribed.values()) subscription.end();
    this.#subscribed.clear();
  }

  #add({ address, isKeyed }: Caller): void {
    const name = isKeyed ? '' : address;
    this.#viewers.set(name, (this.#viewers.get(name) ?? 0) + 1);
  }

  #remove({ address, isKeyed }: Caller): void {
    const name = isKeyed ? '' : address;
    const left = (this.#viewers.get(name) ?? 0) - 1;
    if (left > 0) this.#viewers.set(name, left);
    else this.#viewers.delete(name);
    if (this.isEmpty) this.#onEmpty();
  }

  /** The event of what changed since the last one; undefined: nothing. */
  #compose(): Buffer | undefined {
    const before = this.#sent;
    const now = new Map<string, Sent>();
    const changed: Sent[] = [];
    for (const [machine, subscription] of this.#subscribed) {
      if (!this.#filter.matches(machine)) continue;
      const sent = { machine, version: machine.version, sample: newestOf(subscription) };
      const last = before.get(machine.id);
      const isSame =
        last?.machine === machine && last.version === sent.version && last.sample === sent.sample;
      if (!isSame) changed.push(sent);
      now.set(machine.id, isSame ? last : sent);
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

  #complain(): void {
    if (!this.#hasComplained)
      this.#deps.log.warn('the samples of all machines are too large; those over 64 KiB are left out');
    this.#hasComplained = true;
  }

  #join(sent: readonly Sent[], removed: readonly string[], isAll: boolean): Buffer {
    const parts: Buffer[] = [
      BEGIN,
      Buffer.from(`{"at":${(Date.now() / 1000).toFixed(3)},"all":${isAll},"hosts":{`),
    ];
    const payloads = payloadsOf(sent, this.#view);
    if (payloads.some((payload, at) => payload === undefined && sent[at]?.sample !== undefined))
      this.#complain();
    for (const [at, { machine }] of sent.entries()) {
      if (at > 0) parts.push(COMMA);
      parts.push(...partsOf(machine, payloads[at]));
    }
    parts.push(Buffer.from(`},"removed":${JSON.stringify(removed)}}\n\n`));
    return Buffer.concat(parts);
  }
}
