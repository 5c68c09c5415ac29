/** Logs refusals: each name once, and floods of wrong keys as one line per minute; memory is bounded. */
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
const WRONG_KEYS_PER_LINE = 100;
const MAX_ADDRESSES = 1000;

interface Tally {
  readonly startedAtMs: number;
  count: number;
}

/** Counts wrong keys, and logs one line per minute for each address that sends 100 or more per minute. */
export class WrongKeyLog {
  readonly #log: (text: string) => void;
  /** Oldest minute first: a tally that starts again moves to the end. */
  readonly #tallies = new Map<string, Tally>();

  constructor(log: (text: string) => void) {
    this.#log = log;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note(decision: Decision, nowMs: number): void {
    if (decision.isAllowed || !decision.isWrongKey || decision.client === undefined) return;
    const tally = this.#tallyOf(decision.client, nowMs);
    tally.count += 1;
    if (tally.count === WRONG_KEYS_PER_LINE) {
      this.#log(`${WRONG_KEYS_PER_LINE} wrong keys from ${decision.client} within a minute`);
    }
  }

  #tallyOf(client: string, nowMs: number): Tally {
    const known = this.#tallies.get(client);
    if (known !== undefined && nowMs - known.startedAtMs < MINUTE_MS) return known;
    this.#tallies.delete(client);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size === MAX_ADDRESSES && oldest !== undefined) this.#tallies.delete(oldest);
    const tally = { startedAtMs: nowMs, count: 0 };
    this.#tallies.set(client, tally);
    return tally;
  }
}
