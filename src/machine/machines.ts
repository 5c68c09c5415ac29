/** All machines of a hub, by id; a reload adds and removes some and leaves the others as they are. */
import type { Caller } from '../access/caller.ts';
import type { Config } from '../config/config.ts';
import type { AgentEntry } from '../config/rows/hub-rows.ts';
import { ServiceError } from '../errors.ts';
import type { Listeners } from '../listeners.ts';
import { allows, scopesOf } from '../scopes.ts';
import type { HostState } from '../wire/hub.ts';
import type { RemoteMachine } from './remote.ts';
import type { Commander } from './remote-deps.ts';

/** A thousand first attempts together would take 15 MB for good, and get in each other's way. */
const MS_PER_MACHINE = 3;
/** The most ids that an error names. */
const MAX_IDS = 16;
/** The figures of the hub itself. */
const METRICS = scopesOf(['metrics']);

type Agents = Config['hub']['agents'];

/** A machine of `hub.agents`. */
export interface Configured {
  readonly machine: RemoteMachine;
  /** Whether it can continue with another entry: one for the same direction. */
  suits(entry: AgentEntry): boolean;
  reconfigure(entry: AgentEntry): void;
  /** The configuration has it no more. */
  removed(): void;
}

/** Makes a machine. `spreadMs`: a first attempt to reach it begins within this time. */
export type AddMachine = (id: string, entry: AgentEntry, spreadMs: number) => Configured;

export interface MachinesDeps {
  /** Notified of the id of a machine that another has replaced, or that is gone. */
  readonly conditions: Listeners<readonly [id: string]>;
  readonly commander: Pick<Commander, 'scopesAt'>;
}

export class Machines {
  readonly #deps: MachinesDeps;
  readonly #machines = new Map<string, RemoteMachine>();
  /** Those of `hub.agents`. */
  readonly #configured = new Map<string, Configured>();
  readonly #addMachine: AddMachine;
  /** Changes with the machines that there are, and their labels. */
  version = 0;
  #sorted: readonly RemoteMachine[] | undefined;

  constructor(deps: MachinesDeps, addMachine: AddMachine) {
    this.#deps = deps;
    this.#addMachine = addMachine;
  }

  /** In the order of their ids. */
  get all(): readonly RemoteMachine[] {
    this.#sorted ??= [...this.#machines.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return this.#sorted;
  }

  /** undefined: there is none of this id. */
  at(id: string): RemoteMachine | undefined {
    return this.#machines.get(id);
  }

  /** As `at`; for a caller without `read` also undefined where it may use nothing on that machine. */
  find(id: string, caller: Caller): RemoteMachine | undefined {
    const machine = this.at(id);
    return machine && this.#isKnownTo(caller, machine) ? machine : undefined;
  }

  /** As `find`, also by its name, where only one has it. Throws ServiceError. */
  get(idOrName: string, caller: Caller): RemoteMachine {
    const machine = this.find(idOrName, caller);
    if (machine !== undefined) return machine;
    const named = this.all.filter((each) => each.name === idOrName && this.#isKnownTo(caller, each));
    const [only, another] = named;
    if (only !== undefined && another === undefined) return only;
    const ids = named.slice(0, MAX_IDS).map(({ id }) => id);
    if (ids.length > 0)
      throw new ServiceError('not_found', 'Several machines have that name; use the id of one.', { ids });
    const which = allows(caller.scopes, 'read') ? '' : ' on which this key may do anything';
    throw new ServiceError('not_found', `This hub has no machine of that name${which}.`);
  }

  #isKnownTo(caller: Caller, machine: RemoteMachine): boolean {
    const { commander } = this.#deps;
    return allows(caller.scopes, 'read') || (commander.scopesAt(machine, caller) & ~METRICS) !== 0;
  }

  get states(): Readonly<Record<HostState, number>> {
    const counts = { up: 0, asleep: 0, off: 0, down: 0, refused: 0, unknown: 0 };
    for (const { condition } of this.#machines.values()) counts[condition.state]++;
    return counts;
  }

  reconfigure(agents: Agents): void {
    for (const [id, configured] of this.#configured) {
      const entry = Object.hasOwn(agents, id) ? agents[id] : undefined;
      if (entry !== undefined && configured.suits(entry)) continue;
      this.#configured.delete(id);
      this.remove(configured.machine);
      configured.removed();
    }
    const entries = Object.entries(agents);
    for (const [id, entry] of entries) {
      const known = this.#configured.get(id);
      known?.reconfigure(entry);
      if (known !== undefined) continue;
      const added = this.#addMachine(id, entry, entries.length * MS_PER_MACHINE);
      this.#configured.set(id, added);
      this.#replace(added.machine, this.#machines.get(id));
    }
    this.noteLabels();
  }

  /** Labels may be others than before. */
  noteLabels(): void {
    this.version++;
  }

  isConfigured(id: string): boolean {
    return this.#configured.has(id);
  }

  /** Adds one that the hub has learned of; false: `hub.agents` has the id, or one that is up. */
  add(machine: RemoteMachine): boolean {
    const other = this.#machines.get(machine.id);
    if (this.isConfigured(machine.id) || other?.isUp === true) return false;
    this.#replace(machine, other);
    return true;
  }

  /** The one before makes way. */
  #replace(machine: RemoteMachine, before: RemoteMachine | undefined): void {
    before?.close();
    this.#machines.set(machine.id, machine);
    this.#changed();
    if (before !== undefined) this.#deps.conditions.notify(machine.id);
  }

  /** Ends its streams. */
  remove(machine: RemoteMachine): void {
    machine.close();
    if (this.#machines.get(machine.id) !== machine) return;
    this.#machines.delete(machine.id);
    this.#changed();
    this.#deps.conditions.notify(machine.id);
  }

  #changed(): void {
    this.#sorted = undefined;
    this.version++;
  }

  /** Called every second. */
  look(nowMs: number): void {
    for (const machine of this.#machines.values()) machine.look(nowMs);
  }

  /** Ends all sessions and streams. */
  close(): void {
    for (const machine of this.#machines.values()) machine.close('the hub is shutting down');
  }
}
