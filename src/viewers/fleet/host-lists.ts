/** The list of /api/hosts and of the op `hosts`, as JSON: of a long one, all who ask at about the same time share the bytes. */
import type { Hosts } from '../../agent/remote/hosts.ts';
import type { Clock } from '../../clock.ts';
import type { FleetFilter } from './fleet-filter.ts';

/** Shorter lists, of up to some 250 machines, are made for each request. */
const MIN_SHARED_BYTES = 64 * 1024;
/** A list is shared for this many times as long as it took to make: making lists takes a tenth of the time at most. */
const SHARE_FACTOR = 10;
const MAX_SHARED_MS = 1000;
/** Lists of different filters that are kept; with more the oldest is made again. */
const MAX_CACHED_LISTS = 4;

export class HostLists {
  readonly #machines: Pick<Hosts, 'all'>;
  readonly #clock: Pick<Clock, 'now' | 'setTimer'>;
  /** By the filter's key, the oldest first. */
  readonly #cached = new Map<string, Buffer>();

  constructor(machines: Pick<Hosts, 'all'>, clock: Pick<Clock, 'now' | 'setTimer'>) {
    this.#machines = machines;
    this.#clock = clock;
  }

  /** A HostList of the machines that match. */
  json({ key, matches }: FleetFilter): Buffer {
    const known = this.#cached.get(key);
    if (known !== undefined) return known;
    const begunAtMs = this.#clock.now();
    const text = JSON.stringify({ hosts: this.#machines.all.filter(matches).map(({ row }) => row) });
    // Slow: memory of its own, by which the quota counts it once.
    const list = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    list.write(text);
    if (list.length >= MIN_SHARED_BYTES) this.#keep(key, list, this.#clock.now() - begunAtMs);
    return list;
  }

  #keep(key: string, list: Buffer, spentMs: number): void {
    const [oldest] = this.#cached.size >= MAX_CACHED_LISTS ? this.#cached.keys() : [];
    if (oldest !== undefined) this.#cached.delete(oldest);
    this.#cached.set(key, list);
    const drop = () => {
      if (this.#cached.get(key) === list) this.#cached.delete(key);
    };
    this.#clock.setTimer(drop, Math.min(MAX_SHARED_MS, spentMs * SHARE_FACTOR));
  }
}
