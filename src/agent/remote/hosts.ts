/** All hosts of the hub, by id; a reload adds and removes some and leaves the others as they are. */

import type { Config } from '../../config/config.ts';
import type { AgentEntry } from '../../config/rows/hub-rows.ts';
import type { HostState } from '../../wire/hub.ts';
import type { RemoteDeps } from './deps.ts';
import type { RemoteHost } from './remote.ts';

/** A thousand first attempts together would take 15 MB for good, and get in each other's way. */
const MS_PER_HOST = 3;

type Agents = Config['hub']['agents'];

/** A machine of `hub.agents`. */
export interface Configured {
  readonly host: RemoteHost;
  /** Whether it can continue with another entry: one for the same direction. */
  suits(entry: AgentEntry): boolean;
  reconfigure(entry: AgentEntry): void;
  /** The configuration has it no more. */
  removed(): void;
}

/** Makes a machine. `spreadMs`: a first attempt to reach it begins within this time. */
export type AddMachine = (id: string, entry: AgentEntry, spreadMs: number) => Configured;

export class Hosts {
  readonly #deps: RemoteDeps;
  readonly #hosts = new Map<string, RemoteHost>();
  /** The machines of `hub.agents`. */
  readonly #configured = new Map<string, Configured>();
  readonly #addMachine: AddMachine;
  /** Changes with the hosts that there are, and their labels. */
  version = 0;
  #sorted: readonly RemoteHost[] | undefined;

  constructor(agents: Agents, deps: RemoteDeps, addMachine: AddMachine) {
    this.#deps = deps;
    this.#addMachine = addMachine;
    this.reconfigure(agents);
  }

  /** In the order of their ids. */
  get all(): readonly RemoteHost[] {
    this.#sorted ??= [...this.#hosts.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#sorted;
  }

  /** undefined: unknown id. */
  get(id: string): RemoteHost | undefined {
    return this.#hosts.get(id);
  }

  get states(): Readonly<Record<HostState, number>> {
    const counts = { up: 0, down: 0, refused: 0, unknown: 0 };
    for (const { condition } of this.#hosts.values()) counts[condition.state]++;
    return counts;
  }

  reconfigure(agents: Agents): void {
    for (const [id, configured] of this.#configured) {
      const entry = Object.hasOwn(agents, id) ? agents[id] : undefined;
      if (entry !== undefined && configured.suits(entry)) continue;
      this.#configured.delete(id);
      this.remove(configured.host);
      configured.removed();
    }
    const entries = Object.entries(agents);
    for (const [id, entry] of entries) {
      const known = this.#configured.get(id);
      known?.reconfigure(entry);
      if (known === undefined) this.#configure(id, entry, entries.length * MS_PER_HOST);
    }
    this.noteLabels();
  }

  #configure(id: string, entry: AgentEntry, spreadMs: number): void {
    const added = this.#addMachine(id, entry, spreadMs);
    this.#configured.set(id, added);
    // One of a broker that has this id makes way.
    const other = this.#hosts.get(id);
    other?.close();
    this.#put(added.host);
    if (other !== undefined) this.#deps.conditions.notify(id);
  }

  /** Labels may be others than before. */
  noteLabels(): void {
    this.version++;
  }

  /** Adds one that the hub has learned of; false: `hub.agents` has the id. */
  add(host: RemoteHost): boolean {
    if (this.#configured.has(host.id)) return false;
    this.#put(host);
    return true;
  }

  /** Ends its streams. */
  remove(host: RemoteHost): void {
    host.close();
    if (this.#hosts.get(host.id) !== host) return;
    this.#hosts.delete(host.id);
    this.#changed();
    this.#deps.conditions.notify(host.id);
  }

  #put(host: RemoteHost): void {
    this.#hosts.set(host.id, host);
    this.#changed();
  }

  #changed(): void {
    this.#sorted = undefined;
    this.version++;
  }

  /** Ends all streams. */
  close(): void {
    for (const host of this.#hosts.values()) host.close();
  }
}
