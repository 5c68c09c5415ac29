/** The machines of the hub: their rows from /api/hosts, and the changes by events of the fleet. */
import type { StatsPayload } from '../../src/client/client.ts';
import type { HostRow, HostState } from '../../src/wire/hub.ts';
import {
  type Alarm,
  type Condition,
  conditionOf,
  type Figures,
  figuresOf,
  type LastFigures,
  type Played,
  rowOf,
  STATES,
  type Traffic,
  trafficOf,
  UNKNOWN,
} from './read.ts';
import { Trail } from './trail.ts';

/** Sections that the page requests of each machine. */
export const FIELDS = ['cpu', 'memory', 'disks', 'network'] as const;

type Sample = StatsPayload<(typeof FIELDS)[number]>;

/** FleetEvent of src/wire/hub.ts, as far as the page reads it. */
export interface FleetEvent {
  readonly at: number;
  readonly all: boolean;
  readonly hosts: Readonly<Record<string, Condition & { readonly sample?: Sample }>>;
  readonly removed: readonly string[];
}

/** Its values change in place: a thousand new objects per second would be garbage again immediately. */
export class Machine {
  readonly id: string;
  name: string;
  /** Its labels, as `name: value`. */
  labels: readonly string[] = [];
  /** The ids of machines that can wake it. */
  wakers: readonly string[] = [];
  condition: Condition = { state: 'down', since: 0 };
  figures: Figures = UNKNOWN;
  /** Known while it is not there. */
  last: LastFigures | undefined;
  traffic: Traffic | undefined;
  /** The version of its hostwire. */
  version = '';
  /** Its most urgent event that lasts and is not muted. */
  alarm: Alarm | undefined;
  /** The machine is up, and its first figures have not arrived. */
  isMeasuring = false;
  /** Undefined: nothing, or unknown. */
  played: Played | undefined;
  /** This page may control its players; undefined: not asked yet. */
  mayPlay: boolean | undefined;
  readonly trail = new Trail();
  /** Its rank in the order of names, which is slow to compute. */
  rank = 0;
  /** Text that a search is compared with. */
  words = '';

  constructor(id: string) {
    this.id = id;
    this.name = id;
  }
}

const noCounts = () => Object.fromEntries(STATES.map((state) => [state, 0])) as Record<HostState, number>; // STATES has all.

const collator = new Intl.Collator('en', { numeric: true });

export class Machines {
  readonly #machines = new Map<string, Machine>();
  #counts: Readonly<Record<HostState, number>> = noCounts();
  #alarms: readonly Alarm[] = [];
  /** All labels, each once. */
  labels: readonly string[] = [];

  get all(): readonly Machine[] {
    return [...this.#machines.values()];
  }

  get size(): number {
    return this.#machines.size;
  }

  get counts(): Readonly<Record<HostState, number>> {
    return this.#counts;
  }

  /** Events that last, the most urgent first. */
  get alarms(): readonly Alarm[] {
    return this.#alarms;
  }

  at(id: string): Machine | undefined {
    return this.#machines.get(id);
  }

  setAlarms(alarms: readonly Alarm[]): void {
    this.#alarms = alarms;
    const worst = new Map(
      alarms
        .filter(({ mute }) => mute === undefined)
        .toReversed()
        .map((alarm) => [alarm.id, alarm]),
    );
    for (const machine of this.#machines.values()) machine.alarm = worst.get(machine.id);
  }

  /** Applies the rows of all machines: names, labels, versions and last values. */
  setRows(rows: readonly HostRow[]): void {
    let hasChanged = false;
    for (const row of rows) {
      const found = rowOf(row);
      if (found === undefined) continue;
      const { id, name, labels, wakers, version, last } = found;
      const machine = this.#of(id);
      machine.wakers = wakers;
      machine.version = version;
      machine.last = last;
      const words = [id, name, ...labels].join('\n').toLowerCase();
      if (machine.name === name && machine.words === words) continue;
      hasChanged = true;
      machine.name = name;
      machine.labels = labels;
      machine.words = words;
    }
    if (hasChanged) this.#rank();
  }

  /** Applies an event; returns whether the rows must be read again, because it has other machines, names or wakers. */
  apply({ at, all, hosts, removed }: FleetEvent): boolean {
    let hasNew = false;
    let hasTurned = false;
    for (const [id, host] of Object.entries(hosts)) {
      const condition = conditionOf(host);
      hasNew ||= !this.#machines.has(id);
      const machine = this.#of(id);
      hasTurned ||= (condition.state === 'up') !== (machine.condition.state === 'up');
      machine.condition = condition;
      if (condition.state !== 'up') machine.played = undefined;
      const traffic = trafficOf(host?.sample, at);
      machine.figures = figuresOf(host?.sample, machine.traffic, traffic);
      machine.traffic = traffic;
      machine.isMeasuring = condition.state === 'up' && host?.sample === undefined;
      machine.trail.push(at, machine.figures.load);
      if (all) machine.trail.restart();
    }
    const gone = all ? [...this.#machines.keys()].filter((id) => !Object.hasOwn(hosts, id)) : removed;
    for (const id of gone) this.#machines.delete(id);
    if (hasNew || gone.length > 0) this.#rank();
    const counts = noCounts();
    for (const { condition } of this.#machines.values()) counts[condition.state]++;
    this.#counts = counts;
    return hasNew || hasTurned;
  }

  #of(id: string): Machine {
    let machine = this.#machines.get(id);
    if (machine === undefined) {
      machine = new Machine(id);
      machine.words = id.toLowerCase();
      this.#machines.set(id, machine);
    }
    return machine;
  }

  #rank(): void {
    const sorted = [...this.all].sort((a, b) => collator.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
    for (const [rank, machine] of sorted.entries()) machine.rank = rank;
    this.labels = [...new Set(sorted.flatMap(({ labels }) => labels))].sort(collator.compare);
  }
}
