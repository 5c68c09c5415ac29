/**
 * Machines that are known by a retained status alone: a client that may publish once could make up any number of them.
 * They are asked in turn whether they are there, and few of them are shown.
 */
import { Budget } from './budget.ts';

interface Probed {
  look(nowMs: number): void;
}

/** More than the statuses that one broker keeps for honest machines; of further ones the oldest is dropped. */
const MAX_UNVERIFIED = 25_000;
/** Limit for their rows in /api/hosts together: some 2,500 without labels, some 400 of the largest. */
const MAX_SHOWN_BYTES = 1024 * 1024;
/** Machines asked when the connection begins, and in each later second: each has 5 s to answer, and 2,000 may be waited for. */
const FIRST_PROBES = 500;
const PROBES_PER_LOOK = 300;

export class UnverifiedMachines<Host extends Probed> {
  /** In the order in which they came. */
  readonly #all = new Set<Host>();
  readonly #shown = new Budget<Host>(MAX_SHOWN_BYTES);
  #turn: Iterator<Host> = this.#all.values();
  #probes = FIRST_PROBES;

  get size(): number {
    return this.#all.size;
  }

  /** The one that is dropped when another is added. */
  get surplus(): Host | undefined {
    return this.#all.size < MAX_UNVERIFIED ? undefined : this.#all.values().next().value;
  }

  has(host: Host): boolean {
    return this.#all.has(host);
  }

  add(host: Host): void {
    this.#all.add(host);
  }

  /** It has been heard, or is gone. */
  delete(host: Host): boolean {
    this.#shown.release(host);
    return this.#all.delete(host);
  }

  /** Whether a row of `bytes` may be shown of it. */
  mayShow(host: Host, bytes: number): boolean {
    return this.#shown.take(host, bytes);
  }

  /** A row of `bytes` may be shown of one that is not shown yet. */
  hasCapacity(host: Host, bytes: number): boolean {
    return bytes <= this.#shown.freeBytes && !this.#shown.has(host);
  }

  /** Whether `host` may be asked now; those that have been heard always may. */
  mayProbe(host: Host): boolean {
    if (!this.#all.has(host)) return true;
    if (this.#probes === 0) return false;
    this.#probes--;
    return true;
  }

  begin(): void {
    this.#probes = FIRST_PROBES;
  }

  /** Called every second: calls `look` of the next ones, until as many as may be were asked. */
  look(nowMs: number, visit: (host: Host) => void): void {
    this.#probes = PROBES_PER_LOOK;
    for (let left = this.#all.size; left > 0 && this.#probes > 0; left--) {
      const next = this.#turn.next();
      if (next.done === true) this.#turn = this.#all.values();
      else {
        next.value.look(nowMs);
        visit(next.value);
      }
    }
  }
}
