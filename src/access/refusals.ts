/** Logs refusals: each name once, and wrong keys in growing intervals; memory is bounded. */
import type { Decision } from './request.ts';

// Strangers choose these names, so both the memory and the log need a limit.
const MAX_LOGGED = 100;

/** Logs each refused host name and origin once, with the line that would allow it. */
export class RefusalLog {
  readonly #log: (text: string) => void;
  readonly #seen = new Set<string>();
  #isFull = false;

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  note(decision: Decision): void {
    if (decision.isAllowed || decision.hint === undefined || this.#isFull || this.#seen.has(decision.hint))
      return;
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
}

const MINUTE_MS = 60_000;
/** An address is logged at its first wrong key, and then after a minute, ten minutes, and every hour. */
const PAUSES_MS = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS];
/** After this long without a wrong key an address begins anew. */
const FORGET_MS = 120 * MINUTE_MS;
const MAX_ADDRESSES = 1000;

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

  constructor(log: (text: string, address: string) => void) {
    this.#log = log;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note(decision: Decision, nowMs: number): void {
    if (decision.isAllowed || !decision.isWrongKey || decision.client === undefined) return;
    const { client } = decision;
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

  #known(client: string, nowMs: number): Tally | undefined {
    const known = this.#tallies.get(client);
    return known !== undefined && nowMs - known.lastAtMs < FORGET_MS ? known : undefined;
  }

  #keep(client: string, tally: Tally): void {
    this.#tallies.delete(client);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size === MAX_ADDRESSES && oldest !== undefined) this.#tallies.delete(oldest);
    this.#tallies.set(client, tally);
  }
}
