/** Logs refusals: each name once, and wrong keys in growing intervals; memory is bounded. */
import { AddressCounts, networkOf } from '../fairness/address-counts.ts';
import type { Decision } from './request.ts';

// Strangers choose these names, so both the memory and the log need a limit.
const MAX_LOGGED = 100;
/** Limit per address: names that a stranger makes up must not hide the one that the owner looks for. */
const MAX_LOGGED_OF_ADDRESS = 10;
/** After this long, names are logged again. */
const RENEW_MS = 60 * 60_000;

/** Logs each refused host name and origin once, with the line that would allow it. */
export class RefusalLog {
  readonly #log: (text: string) => void;
  readonly #seen = new Set<string>();
  #ofAddress = new AddressCounts();
  #isFull = false;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note(decision: Decision, nowMs: number): void {
    if (decision.isAllowed || decision.hint === undefined) return;
    this.#renew(nowMs);
    if (this.#isFull || this.#seen.has(decision.hint)) return;
    const { client = '' } = decision;
    if (!this.#ofAddress.hasRoom(client, MAX_LOGGED_OF_ADDRESS)) return;
    this.#ofAddress.add(client);
    if (this.#seen.size === MAX_LOGGED) {
      this.#isFull = true;
      this.#log(
        `refused more than ${MAX_LOGGED} different host names and origins; further ones are not logged`,
      );
      return;
    }
    this.#seen.add(decision.hint);
    this.#log(decision.hint);
  }

  /** Names that filled it are forgotten. While it has room each name is logged once. */
  #renew(nowMs: number): void {
    if (nowMs - this.#renewedAtMs < RENEW_MS) return;
    this.#renewedAtMs = nowMs;
    this.#ofAddress = new AddressCounts();
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#seen.clear();
  }
}

const MINUTE_MS = 60_000;
/** An address is logged at its first wrong key, and then after a minute, ten minutes, and every hour. */
const PAUSES_MS = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS];
/** After this long without a wrong key an address begins anew. */
const FORGET_MS = 120 * MINUTE_MS;
const MAX_ADDRESSES = 1000;
/** Addresses of one /64 network that are counted by themselves; further ones are counted together. */
const MAX_OF_NETWORK = 16;

interface Tally {
  readonly lines: number;
  readonly loggedAtMs: number;
  lastAtMs: number;
  /** Wrong keys since the last line. */
  count: number;
}

/** Counts wrong keys, and logs those of an address at once and then in growing intervals. */
export class WrongKeyLog {
  readonly #log: (text: string, address: string) => void;
  /** The one whose last line is oldest comes first. */
  readonly #tallies = new Map<string, Tally>();
  /** Addresses in `#tallies`, by network. */
  readonly #counted = new AddressCounts();

  constructor(log: (text: string, address: string) => void) {
    this.#log = log;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note(decision: Decision, nowMs: number): void {
    if (decision.isAllowed || !decision.isWrongKey || decision.client === undefined) return;
    const client = this.#countedAs(decision.client);
    const known = this.#known(client, nowMs);
    if (known !== undefined) {
      known.count++;
      known.lastAtMs = nowMs;
      const pauseMs = PAUSES_MS[Math.min(known.lines, PAUSES_MS.length) - 1] ?? 0;
      if (nowMs - known.loggedAtMs < pauseMs) return;
      const minutes = Math.round((nowMs - known.loggedAtMs) / MINUTE_MS);
      this.#log(`${known.count} more wrong keys within ${minutes} min`, client);
    } else this.#log('wrong key', client);
    this.#keep(client, { lines: (known?.lines ?? 0) + 1, loggedAtMs: nowMs, lastAtMs: nowMs, count: 0 });
  }

  /** The address, or its network where that has too many. */
  #countedAs(client: string): string {
    const network = networkOf(client);
    return this.#tallies.has(client) || this.#counted.of(network) < MAX_OF_NETWORK ? client : network;
  }

  #known(client: string, nowMs: number): Tally | undefined {
    const known = this.#tallies.get(client);
    return known !== undefined && nowMs - known.lastAtMs < FORGET_MS ? known : undefined;
  }

  #keep(client: string, tally: Tally): void {
    this.#forget(client);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size === MAX_ADDRESSES && oldest !== undefined) this.#forget(oldest);
    this.#tallies.set(client, tally);
    this.#counted.add(client);
  }

  #forget(client: string): void {
    if (this.#tallies.delete(client)) this.#counted.remove(client);
  }
}
