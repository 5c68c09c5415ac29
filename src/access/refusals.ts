/** Logs refusals: host names and origins once each, and wrong keys with their number; memory is bounded. */
import { RATES, REMEMBERED } from '../fairness/limits.ts';
import { networkOf } from '../fairness/networks.ts';
import { Rate } from '../fairness/rate.ts';
import type { Decision } from './request.ts';

/** The part of a decision that this reads. */
type Noted = Pick<Decision, 'isAllowed' | 'client'> & { readonly hint?: string | undefined };

/** Logs each refused host name and origin once, with the line that would allow it. Strangers choose these names. */
export class RefusalLog {
  readonly #log: (text: string) => void;
  readonly #seen = new Set<string>();
  readonly #ofAddress = new Rate(RATES.refusedNames);
  readonly #inAll = new Rate(RATES.refusedNamesInAll);

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note({ isAllowed, hint, client = '' }: Noted, nowMs: number): void {
    if (isAllowed || hint === undefined || this.#seen.has(hint)) return;
    if (!this.#ofAddress.take(client, nowMs) || !this.#inAll.take('', nowMs)) return;
    if (this.#seen.size === REMEMBERED.refusals) this.#seen.clear();
    this.#seen.add(hint);
    this.#log(hint);
  }
}

/** Logs wrong keys: the first of a network immediately, and then one line per ten minutes with their number. */
export class WrongKeys {
  readonly #log: (text: string, address: string) => void;
  readonly #pace = new Rate(RATES.wrongKeys);
  readonly #lines = new Rate(RATES.wrongKeyLines);
  /** Wrong keys since the last line, by network. */
  readonly #further = new Map<string, number>();

  constructor(log: (text: string, address: string) => void) {
    this.#log = log;
  }

  /**
   * Returns whether this is a wrong key above the rate: its client loses the connection with the answer. A right key never
   * does. `nowMs`: the time of a monotonic clock.
   */
  exceeds(decision: Decision, nowMs: number): boolean {
    if (decision.isAllowed || !decision.isWrongKey || decision.client === undefined) return false;
    return this.note(decision.client, nowMs);
  }

  /** Notes a wrong key of `address`; returns whether it is above the rate. */
  note(address: string, nowMs: number): boolean {
    const network = networkOf(address);
    const further = this.#further.get(network) ?? 0;
    if (this.#lines.take(network, nowMs)) {
      this.#log(further === 0 ? 'wrong key' : `${further + 1} more wrong keys`, address);
      this.#further.delete(network);
    } else {
      if (this.#further.size === REMEMBERED.refusals) this.#further.clear();
      this.#further.set(network, further + 1);
    }
    return !this.#pace.take(network, nowMs);
  }
}
