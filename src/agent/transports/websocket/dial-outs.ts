/** The machines of `hub.agents` that this hub dials: when each is tried, and why it cannot be reached. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentEntry } from '../../../config/rows/hub-rows.ts';
import { peerTargetOf } from '../../../socket/web-socket.ts';
import type { Framed } from '../../protocol/frames.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import type { Failure } from '../../remote/failure.ts';
import type { Configured } from '../../remote/hosts.ts';
import type { RemoteHost } from '../../remote/remote.ts';
import type { ConnectedMachine, ConnectedMachines } from './connected-machines.ts';
import { DialPace } from './machine-pace.ts';
import { OutgoingConnection, type OutgoingOwner } from './outgoing.ts';

type OutgoingEntry = AgentEntry & { readonly url: string };
const isOutgoing = (entry: AgentEntry): entry is OutgoingEntry => entry.url !== undefined;

/** One machine: a connection, or a timer for the next attempt. */
class DialOut implements Configured, OutgoingOwner {
  readonly #deps: RemoteDeps;
  readonly #machines: ConnectedMachines;
  readonly #others: Set<DialOut>;
  readonly #machine: ConnectedMachine;
  pace: DialPace;
  #entry: OutgoingEntry;
  #connection: OutgoingConnection | undefined;
  #timer: unknown;
  /** Attempts since the machine was up. */
  #failures = 0;
  #begunAtMs = 0;
  /** When it was there for the last time, or was added. */
  #lostAtMs: number;
  #nextAtMs = 0;
  /** A viewer brings the next attempt forward to this time at most. */
  #earliestMs = Number.POSITIVE_INFINITY;

  /** `others`: those of the hub, which it joins. */
  constructor(
    id: string,
    entry: OutgoingEntry,
    deps: RemoteDeps,
    machines: ConnectedMachines,
    others: Set<DialOut>,
  ) {
    this.#deps = deps;
    this.#machines = machines;
    this.#others = others.add(this);
    this.#entry = entry;
    this.pace = new DialPace(deps.clock.now());
    this.#lostAtMs = deps.clock.now();
    this.#machine = machines.add(
      id,
      () => this.#entry,
      () => this.#hurry(),
    );
  }

  get host(): RemoteHost {
    return this.#machine.host;
  }

  suits(entry: AgentEntry): boolean {
    return isOutgoing(entry);
  }

  /** Another entry of the same id: viewers stay. */
  reconfigure(entry: AgentEntry): void {
    if (!isOutgoing(entry)) return;
    const shown = { name: '', labels: {} };
    const isSame = isDeepStrictEqual({ ...entry, ...shown }, { ...this.#entry, ...shown });
    this.#entry = entry;
    if (isSame) return;
    this.#disconnect();
    this.#failures = 0;
    this.#lostAtMs = this.#deps.clock.now();
    this.pace = new DialPace(this.#lostAtMs);
    this.#machine.host.forget();
    this.#machine.host.lost('its entry in hub.agents changed; not contacted since');
    this.connectIn(0);
  }

  look(nowMs: number): void {
    this.#connection?.look(nowMs);
  }

  removed(): void {
    this.#others.delete(this);
    this.close();
  }

  close(): void {
    this.#disconnect();
    this.#machines.remove(this.#machine);
  }

  connectIn(delayMs: number): void {
    const { clock } = this.#deps;
    clock.clearTimer(this.#timer);
    this.#nextAtMs = clock.now() + delayMs;
    this.#timer = clock.setTimer(() => {
      // Thousands are connected, and would keep it.
      this.#timer = undefined;
      this.#connect();
    }, delayMs);
  }

  #hurry(): void {
    const { clock, random } = this.#deps;
    if (this.#timer === undefined) return;
    // A millisecond per machine: a viewer may want all of them.
    const atMs = Math.max(clock.now(), this.#earliestMs) + random() * this.#others.size;
    if (atMs < this.#nextAtMs) this.connectIn(atMs - clock.now());
  }

  #disconnect(): void {
    this.#deps.clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#connection?.end();
    this.#connection = undefined;
    this.#machine.connection = undefined;
  }

  #connect(): void {
    const { clock, counters, times } = this.#deps;
    const { url, pin, key_file: keyFile } = this.#entry;
    this.#begunAtMs = clock.now();
    this.#earliestMs = this.#begunAtMs + times.maxDelayMs;
    counters.connections++;
    const target = peerTargetOf(url, pin);
    this.#connection = new OutgoingConnection(target, keyFile?.secret, this.#deps, this);
  }

  onMessage(message: Framed): boolean {
    if (this.#machine.connection === undefined) {
      this.#machine.connection = this.#connection;
      this.#failures = 0;
    }
    return this.#machines.take(this.#machine, message);
  }

  onEnd({ isRefusal, isFlood, reason }: Failure): void {
    const { clock, times, counters, random } = this.#deps;
    const { host, connection } = this.#machine;
    this.#disconnect();
    counters.failures++;
    // It may have said before that it goes away.
    if (connection === undefined || host.status?.isOnline === true) host.lost(reason, isRefusal);
    const { initialDelayMs, maxDelayMs, offDelayMs, floodMs } = times;
    const nowMs = clock.now();
    if (connection !== undefined) this.#lostAtMs = nowMs;
    if (isFlood === true) {
      this.pace = new DialPace(nowMs);
      this.connectIn(floodMs * (1 - random() / 2));
      this.#earliestMs = this.#nextAtMs;
      return;
    }
    // An eighth of the time that it has been gone.
    const longestMs = Math.min(offDelayMs, Math.max(maxDelayMs, (nowMs - this.#lostAtMs) / 8));
    const step = Math.min(longestMs, initialDelayMs * 2 ** this.#failures++);
    const waitMs = step * (1 - random() / 2);
    // From one attempt to the next: an attempt without an answer takes seconds itself.
    const spentMs = connection === undefined ? nowMs - this.#begunAtMs : 0;
    this.connectIn(Math.max(Math.min(waitMs, initialDelayMs), waitMs - spentMs));
  }
}

export class DialOuts {
  readonly #deps: RemoteDeps;
  readonly #machines: ConnectedMachines;
  readonly #all = new Set<DialOut>();

  constructor(deps: RemoteDeps, machines: ConnectedMachines) {
    this.#deps = deps;
    this.#machines = machines;
    machines.onLook((nowMs) => {
      for (const dialOut of this.#all) dialOut.look(nowMs);
    });
  }

  /** A machine of the configuration, for Hosts. Its first attempt begins within `spreadMs`. */
  add(id: string, entry: AgentEntry, spreadMs: number): Configured {
    if (!isOutgoing(entry)) throw new Error('an entry without a URL cannot be dialled');
    const dialOut = new DialOut(id, entry, this.#deps, this.#machines, this.#all);
    dialOut.connectIn(this.#deps.random() * spreadMs);
    return dialOut;
  }

  close(): void {
    for (const dialOut of this.#all) dialOut.close();
  }
}
