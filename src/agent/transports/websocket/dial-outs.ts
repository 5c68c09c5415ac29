/** The machines of `hub.agents` that this hub dials: when each is tried, and why it cannot be reached. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentEntry } from '../../../config/rows/hub-rows.ts';
import type { Framed } from '../../protocol/frames.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import type { Failure } from '../../remote/failure.ts';
import type { Configured } from '../../remote/hosts.ts';
import type { RemoteHost } from '../../remote/remote.ts';
import type { ConnectedMachine, ConnectedMachines } from './connected-machines.ts';
import { DialPace } from './machine-pace.ts';
import { OutgoingConnection, type OutgoingOwner } from './outgoing.ts';
import { peerTargetOf } from './web-socket.ts';

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
    this.#machine = machines.add(id, () => this.#entry.labels);
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
    const isSame = isDeepStrictEqual({ ...entry, labels: {} }, { ...this.#entry, labels: {} });
    this.#entry = entry;
    if (isSame) return;
    this.#disconnect();
    this.#failures = 0;
    this.pace = new DialPace(this.#deps.clock.now());
    this.#machine.host.forget();
    this.#machine.host.lost('its entry in hub.agents has changed, and it was not reached since');
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
    this.#timer = clock.setTimer(() => {
      // Thousands are connected, and would keep it.
      this.#timer = undefined;
      this.#connect();
    }, delayMs);
  }

  #disconnect(): void {
    this.#deps.clock.clearTimer(this.#timer);
    this.#connection?.end();
    this.#connection = undefined;
    this.#machine.connection = undefined;
  }

  #connect(): void {
    const { clock, counters } = this.#deps;
    const { url, pin, key_file: keyFile } = this.#entry;
    this.#begunAtMs = clock.now();
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
    const { initialDelayMs, maxDelayMs, floodMs } = times;
    if (isFlood === true) {
      this.pace = new DialPace(clock.now());
      this.connectIn(floodMs * (1 - random() / 2));
      return;
    }
    const step = Math.min(maxDelayMs, initialDelayMs * 2 ** this.#failures++);
    const waitMs = step * (1 - random() / 2);
    // From one attempt to the next: an attempt without an answer takes seconds itself.
    const spentMs = connection === undefined ? clock.now() - this.#begunAtMs : 0;
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
    if (!isOutgoing(entry)) throw new Error('an entry without a URL is not dialled');
    const dialOut = new DialOut(id, entry, this.#deps, this.#machines, this.#all);
    dialOut.connectIn(this.#deps.random() * spreadMs);
    return dialOut;
  }

  close(): void {
    for (const dialOut of this.#all) dialOut.close();
  }
}
