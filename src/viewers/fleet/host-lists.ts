/** The list of /api/hosts and of the op `hosts`, as JSON: of a long one, all who ask at about the same time share the bytes. */

import type { Clock } from '../../clock.ts';
import { QUOTAS, REMEMBERED } from '../../fairness/limits.ts';
import { ALL_SECTIONS } from '../../host/host.ts';
import type { Machines } from '../../machine/machines.ts';
import type { Registry } from '../../machine/registry.ts';
import type { RemoteMachine } from '../../machine/remote.ts';
import { type Waker, wakersIn, wakersOf } from '../../machine/wakers.ts';
import type { FleetFilter, ListPart } from './fleet-filter.ts';

/** Machines that are up need none. */
const NO_WAKERS: ReadonlyMap<string, readonly Waker[]> = new Map();
/** Shorter lists, of up to some 250 machines, are made for each request. */
const SHARED_BYTES = 64 * 1024;
/** A list is shared for this many times as long as it took to make: making lists takes a tenth of the time at most. */
const SHARE_FACTOR = 10;
const SHARED_MS = 1000;

/** What is known of machines beside their states. */
export type Inventory = Pick<Registry, 'facts' | 'usage' | 'note'>;

const EVERYTHING: ListPart = { sections: ALL_SECTIONS, after: undefined, limit: Number.POSITIVE_INFINITY };

export class HostLists {
  readonly #machines: Pick<Machines, 'all'>;
  readonly #inventory: Inventory;
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  /** By the filter's key, the oldest first. */
  readonly #cached = new Map<string, Buffer>();

  constructor(machines: Pick<Machines, 'all'>, inventory: Inventory, clock: Pick<Clock, 'now' | 'setTimer'>) {
    this.#machines = machines;
    this.#inventory = inventory;
    this.#clock = clock;
  }

  /** A HostList of the machines that match. */
  json(filter: FleetFilter, part: ListPart = EVERYTHING): Buffer {
    const key = JSON.stringify([filter.key, part.sections, part.after ?? null, part.limit]);
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const begunAtMs = this.#clock.now();
    const text = this.#write(filter, part);
    // Slow: memory of its own, by which the quota counts it once.
    const list = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    list.write(text);
    if (list.length >= SHARED_BYTES) this.#keep(key, list, this.#clock.now() - begunAtMs);
    return list;
  }

  #write({ matches }: FleetFilter, { sections, after = '', limit }: ListPart): string {
    const wanted = this.#machines.all.filter((machine) => machine.id > after && matches(machine));
    const shown = wanted.length > limit ? wanted.slice(0, limit) : wanted;
    const wakers = shown.every(({ isUp }) => isUp) ? NO_WAKERS : wakersIn(this.#machines, this.#inventory);
    let bytes = 0;
    const rows = shown.map((machine) => {
      const row = JSON.stringify(machine.row);
      const more = bytes > QUOTAS.inventory.maxBytes ? '' : this.#inventoryOf(machine, sections, wakers);
      bytes += more.length;
      return `${row.slice(0, -1)}${more}}`;
    });
    const next = shown === wanted ? '' : `,"next":${JSON.stringify(shown.at(-1)?.id)}`;
    return `{"hosts":[${rows.join()}]${next}}`;
  }

  /** The members of a row that come from the registry. */
  #inventoryOf(
    machine: RemoteMachine,
    sections: number,
    wakers: ReadonlyMap<string, readonly Waker[]>,
  ): string {
    if (machine.newest !== undefined) this.#inventory.note(machine);
    const ids = wakersOf(machine, wakers).map((waker) => waker.machine.id);
    const known = {
      ...this.#inventory.facts(machine.id),
      wakes: undefined,
      wake_by: ids.length > 0 ? ids : undefined,
    };
    const facts = JSON.stringify(known).slice(1, -1);
    const last = this.#inventory.usage(machine.id, sections);
    return `${facts === '' ? '' : `,${facts}`}${last === undefined ? '' : `,"last":${last}`}`;
  }

  #keep(key: string, list: Buffer, spentMs: number): void {
    const [oldest] = this.#cached.size >= REMEMBERED.lists ? this.#cached.keys() : [];
    if (oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(key, list);
    const drop = () => {
      if (this.#cached.get(key) === list) this.#cached.delete(key);
    };
    this.#clock.setTimer(drop, Math.min(SHARED_MS, spentMs * SHARE_FACTOR));
  }
}
