/**
 * The viewers of /api/fleet/stream and of the topic `fleet` with the same filter and view: their event is made once per
 * interval. Samples are joined as bytes.
 */
import { deferToNextTurn } from '../../clock.ts';
import type { Caller } from '../../access/caller.ts';
import { CountsByKey } from '../../http/clients/counts-by-key.ts';
import type { Counting } from '../../http/clients/viewer-counts.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Headers } from '../../http/reply.ts';
import type { Log } from '../../log/log.ts';
import type { MachineSample } from '../../machine/machine.ts';
import type { Demand } from '../../stats/source.ts';
import type { View } from '../../stats/view.ts';
import type { FleetMember, FleetWhole } from '../socket/fleet-subscription.ts';
import { inSlices } from '../socket/slices.ts';
import type { FanoutOptions } from '../stream/fanout.ts';
import type { SampleEvents, StreamServer } from '../stream/stream-server.ts';
import type { FleetFilter } from './fleet-filter.ts';
import type { FleetMachine, FleetMachines } from './fleet-machine.ts';

const BEGIN = Buffer.from('data: ');
const SAMPLE = Buffer.from(',"sample":');
const CLOSE = Buffer.from('}');
const COMMA = Buffer.from(',');

/** Samples of one event together, half of what one address may be kept by default. Beyond it the large ones are left out. */
const MAX_SAMPLE_BYTES = 8 * 2 ** 20;
/** A plain sample with 500 disks has 60 KB. */
const LARGE_BYTES = 64 * 1024;

/** The state of a machine as a group has sent it. */
interface Sent {
  readonly machine: FleetMachine;
  readonly version: number;
  readonly sample: MachineSample | undefined;
}

/** The newest sample of a machine for `view`; undefined: there is none yet. */
function sampleOf(machine: FleetMachine, view: View): MachineSample | undefined {
  const sample = machine.feedOf(view).first(view);
  return sample instanceof Promise ? undefined : sample;
}

function partsOf({ id, condition }: FleetMachine, payload: Buffer | undefined): readonly Buffer[] {
  const head = Buffer.from(`${JSON.stringify(id)}:${JSON.stringify(condition).slice(0, -1)}`);
  return payload === undefined ? [head, CLOSE] : [head, SAMPLE, payload, CLOSE];
}

/** The payloads of an event. Where all are too long for one, a few machines must not cost the others their viewers. */
function payloadsOf(sent: readonly Sent[], view: View): readonly (Buffer | undefined)[] {
  const payloads = sent.map(({ sample }) => sample?.payload(view));
  const bytes = payloads.reduce((sum, payload) => sum + (payload?.length ?? 0), 0);
  if (bytes <= MAX_SAMPLE_BYTES) return payloads;
  return payloads.map((payload) =>
    payload !== undefined && payload.length > LARGE_BYTES ? undefined : payload,
  );
}

/** Shared by all groups. */
export interface FleetDeps {
  readonly log: Log;
  readonly counts: Counting;
  /** Open streams of viewers. */
  readonly viewers: { size: number };
  readonly createFanout: (options: Pick<FanoutOptions, 'source' | 'counts'>) => StreamServer;
}

export class FleetGroup {
  readonly #log: FleetDeps['log'];
  #hasComplained = false;
  readonly #machines: FleetMachines;
  readonly #filter: FleetFilter;
  readonly #view: View;
  readonly fanout: StreamServer;
  /** The machines whose samples it has subscribed to, and the version of all then. */
  readonly #subscribed = new Set<FleetMachine>();
  #version = -1;
  #sent = new Map<string, Sent>();
  #whole: Buffer | undefined;
  readonly #sockets = new Map<FleetMember, Caller>();
  /** Viewers without the key by address, in the order in which the addresses came. */
  readonly #keyless = new CountsByKey();
  #keylessSize = 0;
  /** Viewers of either kind. */
  #size = 0;
  /** The number of the newest event. */
  #number = 0;
  readonly #onEmpty: () => void;

  constructor(
    deps: FleetDeps,
    machines: FleetMachines,
    filter: FleetFilter,
    view: View,
    onEmpty: () => void,
  ) {
    this.#onEmpty = onEmpty;
    this.#log = deps.log;
    this.#machines = machines;
    this.#filter = filter;
    this.#view = view;
    const { viewers, createFanout } = deps;
    const source: Demand = {
      subscribe: () => {
        viewers.size++;
        this.#size++;
      },
      unsubscribe: () => {
        viewers.size--;
        this.#lose();
      },
    };
    const counts: Counting = {
      opened: (caller) => {
        deps.counts.opened(caller);
        this.#addKeyless(caller);
      },
      closed: (caller) => {
        deps.counts.closed(caller);
        this.#removeKeyless(caller);
      },
    };
    this.fanout = createFanout({ source, counts });
    this.#follow();
    this.#compose();
  }

  open(exchange: Exchange, headers: Headers, caller: Caller): void {
    this.fanout.open(exchange, this.#view, { event: () => this.#makeWhole() }, headers, caller, false);
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get isFiltered(): boolean {
    return !this.#filter.isEmpty;
  }

  /** The viewer that it is counted for: one with the key, otherwise that of the address that came first and is still here. */
  get holder(): Pick<Caller, 'address' | 'isKeyed'> {
    const [first] = this.#keyless;
    return first === undefined || this.#size > this.#keylessSize
      ? { address: '', isKeyed: true }
      : { address: first[0], isKeyed: false };
  }

  /** Adds a WebSocket. */
  join(follower: FleetMember, caller: Caller): void {
    this.#sockets.set(follower, caller);
    this.#addKeyless(caller);
    this.#size++;
  }

  leave(follower: FleetMember): void {
    const caller = this.#sockets.get(follower);
    if (caller === undefined) return;
    this.#sockets.delete(follower);
    this.#removeKeyless(caller);
    this.#lose();
  }

  /** Returns the whole state, with which a WebSocket begins, or continues after it has missed something. */
  whole(): FleetWhole {
    return { event: this.#makeWhole(), number: this.#number };
  }

  /** Subscribes to the machines that the filter concerns. */
  #follow(): void {
    const view = this.#view;
    this.#version = this.#machines.version;
    const wanted = new Set(this.#machines.all.filter((machine) => this.#filter.concerns(machine)));
    for (const machine of wanted) {
      if (this.#subscribed.has(machine)) continue;
      this.#subscribed.add(machine);
      machine.feedOf(view).subscribe(view);
    }
    for (const machine of this.#subscribed) if (!wanted.has(machine)) this.#unsubscribe(machine);
  }

  tick(): void {
    if (this.#version !== this.#machines.version) this.#follow();
    const event = this.#compose();
    if (event === undefined) return;
    const number = ++this.#number;
    const events: SampleEvents = { event: () => event, whole: () => this.#makeWhole() };
    this.fanout.publish(events);
    inSlices([...this.#sockets.keys()], deferToNextTurn, (follower) => {
      if (this.#sockets.has(follower)) follower.publish(event, number);
    });
  }

  /** Returns how many viewers still have to take what they were sent before. */
  close(): number {
    const full = this.fanout.close();
    for (const machine of this.#subscribed) this.#unsubscribe(machine);
    return full;
  }

  #addKeyless({ address, isKeyed }: Caller): void {
    if (isKeyed) return;
    this.#keyless.add(address);
    this.#keylessSize++;
  }

  #removeKeyless({ address, isKeyed }: Caller): void {
    if (isKeyed) return;
    this.#keyless.remove(address);
    this.#keylessSize--;
  }

  #lose(): void {
    if (--this.#size === 0) this.#onEmpty();
  }

  #unsubscribe(machine: FleetMachine): void {
    this.#subscribed.delete(machine);
    machine.feedOf(this.#view).unsubscribe(this.#view);
  }

  /** The event of what changed since the last one; undefined: nothing. */
  #compose(): Buffer | undefined {
    const before = this.#sent;
    const now = new Map<string, Sent>();
    const changed: Sent[] = [];
    for (const machine of this.#subscribed) {
      if (!this.#filter.matches(machine)) continue;
      const sent = { machine, version: machine.version, sample: sampleOf(machine, this.#view) };
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
      this.#log.warn('the samples of all machines are too long: those of more than 64 KiB are left out');
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
