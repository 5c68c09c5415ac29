/** Machines that have a connection of their own with this hub, opened by either side: their messages in both directions. */

import { isLeased } from '../../protocol/agent-topics.ts';
import type { Framed } from '../../protocol/frames.ts';
import { readStatus } from '../../protocol/status.ts';
import { Calls } from '../../remote/calls.ts';
import type { RemoteDeps } from '../../remote/deps.ts';
import { LeaseRenewals, LOOK_MS } from '../../remote/lease-renewals.ts';
import { RemoteHost, type RemoteHostDeps } from '../../remote/remote.ts';

/** A connection loses nothing but with its end, and each message costs a system call. */
const RENEW_MS = 6000;

/** A connection that is ready. */
export interface MachineConnection {
  /** Whether it was sent; otherwise it never will be. */
  send(topic: string, payload: string): boolean;
}

/** A machine, and its connection while it has one. */
export interface ConnectedMachine {
  readonly host: RemoteHost;
  connection: MachineConnection | undefined;
}

export class ConnectedMachines {
  readonly #deps: RemoteDeps;
  readonly #calls: Calls;
  readonly #leases: LeaseRenewals<RemoteHost>;
  /** One for all machines. */
  readonly #onInterest = (host: RemoteHost) => this.#leases.changed(host);
  readonly #machines = new Map<string, ConnectedMachine>();
  readonly #lookers: ((nowMs: number) => void)[] = [];
  #timer: unknown;

  constructor(deps: RemoteDeps) {
    const { clock, name, times } = deps;
    this.#deps = deps;
    this.#calls = new Calls({
      hub: name,
      clock,
      answerMs: times.answerMs,
      publish: (id, what, payload) => this.#send(id, `cmd/${what.replace('.', '/')}`, payload),
    });
    this.#leases = new LeaseRenewals({
      clock,
      renewMs: RENEW_MS,
      isReady: () => true,
      send: (host) => this.#send(host.id, 'want', JSON.stringify({ hub: name, ...host.interest })),
    });
  }

  /** Calls `look` every second, once there are machines. */
  onLook(look: (nowMs: number) => void): void {
    this.#lookers.push(look);
  }

  /** `onMissed`: as that of RemoteHost. */
  add(id: string, entry: RemoteHostDeps['entry'], onMissed?: () => void): ConnectedMachine {
    const host = new RemoteHost(id, {
      hub: this.#deps,
      calls: this.#calls,
      ...(entry && { entry }),
      onInterest: this.#onInterest,
      ...(onMissed && { onMissed }),
    });
    const machine: ConnectedMachine = { host, connection: undefined };
    this.#machines.set(id, machine);
    this.#timer ??= this.#deps.clock.setTimer(() => this.#look(), LOOK_MS);
    return machine;
  }

  remove(machine: ConnectedMachine): void {
    const { id } = machine.host;
    if (this.#machines.get(id) === machine) this.#machines.delete(id);
  }

  /** A message of a machine, valid during the call only. Whether it is one of the protocol. */
  take({ host }: ConnectedMachine, { topic, payload }: Framed): boolean {
    if (isLeased(topic)) host.take(topic, payload);
    else if (topic.startsWith('feedback/')) host.answer(payload);
    else if (topic === 'status') {
      const status = readStatus(payload);
      if (status === undefined) return false;
      host.say(status, false);
    }
    return true;
  }

  close(): void {
    this.#deps.clock.clearTimer(this.#timer);
    this.#calls.lost('this hub is shutting down');
  }

  #look(): void {
    const { clock } = this.#deps;
    this.#timer = clock.setTimer(() => this.#look(), LOOK_MS);
    const nowMs = clock.now();
    for (const look of this.#lookers) look(nowMs);
    for (const { host, connection } of this.#machines.values())
      if (connection !== undefined) host.look(nowMs);
    this.#leases.look(nowMs);
  }

  #send(id: string, topic: string, payload: string): boolean {
    return this.#machines.get(id)?.connection?.send(topic, payload) ?? false;
  }
}
