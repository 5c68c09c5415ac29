/** Logs refusals: each name once, and wrong keys in growing intervals; memory is bounded. */
import { AddressCounts, networkOf } from '../fairness/address-counts.ts';
import type { Decision } from './request.ts';

// Strangers choose these names, so both the memory and the log need a limit.
const MAX_LOGGED = 100;
/** Limit per address: names that a stranger invents must not hide the one that the owner looks for. */
const MAX_LOGGED_OF_ADDRESS = 10;
/** After this long, names are logged again. */
const RENEW_MS = 60 * 60_000;

/** The part of a decision that this reads. */
type Noted = Pick<Decision, 'isAllowed' | 'client'> & { readonly hint?: string | undefined };

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
  note(decision: Noted, nowMs: number): void {
    if (decision.isAllowed || decision.hint === undefined) return;
    this.#renew(nowMs);
    if (this.#isFull || this.#seen.has(decision.hint)) return;
    const { client = '' } = decision;
    if (!this.#ofAddress.hasCapacity(client, MAX_LOGGED_OF_ADDRESS)) return;
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

  /** Forgets the names that filled it. Below the limit each name is logged once. */
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
/** Number of wrong keys within a minute from which the address gets a line each minute instead. */
const MIN_FLOOD = 100;
/** Time without a wrong key after which an address starts over. */
const FORGET_MS = 120 * MINUTE_MS;
const MAX_ADDRESSES = 1000;
/** Maximum number of addresses per /64 network that are counted separately; further ones are counted together. */
const MAX_OF_NETWORK = 16;
/** Maximum number of networks whose wrong keys are rate-limited. */
const MAX_NETWORKS = 1000;

interface Refused {
  lines: number;
  loggedAtMs: number;
  lastAtMs: number;
  /** Wrong keys since the last line. */
  count: number;
  /** The current minute, and the wrong keys in it. */
  minuteAtMs: number;
  inMinute: number;
}

export interface WrongKeyLogOptions {
  readonly log: (text: string, address: string) => void;
  /** Calls back after `ms`, without keeping the process alive. */
  readonly later?: (act: () => void, ms: number) => void;
}

const laterUnref = (act: () => void, ms: number) => void setTimeout(act, ms).unref();

const wrongKeyOf = (decision: Decision) =>
  decision.isAllowed || !decision.isWrongKey ? undefined : decision.client;

/**
 * Counts wrong keys, and logs those of an address immediately and then in growing intervals; a flood has one line per
 * minute, the last one when it is over.
 */
export class WrongKeyLog {
  readonly #options: WrongKeyLogOptions;
  /** Ordered by the time of the last line, the oldest first. */
  readonly #refused = new Map<string, Refused>();
  /** Addresses in `#refused`, by network. */
  readonly #counted = new AddressCounts();

  constructor(options: WrongKeyLogOptions) {
    this.#options = options;
  }

  /** `nowMs`: the time of a monotonic clock. */
  note(decision: Decision, nowMs: number): void {
    const sender = wrongKeyOf(decision);
    if (sender === undefined) return;
    const client = this.#countedAs(sender);
    const known = this.#known(client, nowMs);
    if (known === undefined) {
      const first = {
        lines: 0,
        loggedAtMs: nowMs,
        lastAtMs: nowMs,
        count: 0,
        minuteAtMs: nowMs,
        inMinute: 1,
      };
      this.#report(client, first, 'wrong key', nowMs);
      return;
    }
    this.#endMinute(client, known, nowMs);
    known.lastAtMs = nowMs;
    known.count++;
    known.inMinute++;
    if (known.inMinute >= MIN_FLOOD) {
      if (known.inMinute === MIN_FLOOD) this.#endLater(client, known, nowMs);
      return;
    }
    const pauseMs = PAUSES_MS[Math.min(known.lines, PAUSES_MS.length) - 1] ?? 0;
    if (nowMs - known.loggedAtMs < pauseMs) return;
    const minutes = Math.round((nowMs - known.loggedAtMs) / MINUTE_MS);
    this.#report(client, known, `${known.count} more wrong keys within ${minutes} min`, nowMs);
  }

  #endLater(client: string, refused: Refused, nowMs: number): void {
    const endMs = refused.minuteAtMs + MINUTE_MS;
    const { later = laterUnref } = this.#options;
    later(() => this.#endMinute(client, refused, endMs), endMs - nowMs);
  }

  #endMinute(client: string, refused: Refused, nowMs: number): void {
    if (nowMs - refused.minuteAtMs < MINUTE_MS) return;
    const count = refused.inMinute;
    refused.minuteAtMs = nowMs;
    refused.inMinute = 0;
    if (count >= MIN_FLOOD) this.#report(client, refused, `${count} wrong keys in the last minute`, nowMs);
  }

  /** Returns the address, or its network if that has too many. */
  #countedAs(client: string): string {
    const network = networkOf(client);
    return this.#refused.has(client) || this.#counted.of(network) < MAX_OF_NETWORK ? client : network;
  }

  #known(client: string, nowMs: number): Refused | undefined {
    const known = this.#refused.get(client);
    return known !== undefined && nowMs - known.lastAtMs < FORGET_MS ? known : undefined;
  }

  #report(client: string, refused: Refused, text: string, nowMs: number): void {
    this.#options.log(text, client);
    refused.lines++;
    refused.loggedAtMs = nowMs;
    refused.count = 0;
    this.#keep(client, refused);
  }

  #keep(client: string, refused: Refused): void {
    this.#forget(client);
    const [oldest] = this.#refused.keys();
    if (this.#refused.size === MAX_ADDRESSES && oldest !== undefined) this.#forget(oldest);
    this.#refused.set(client, refused);
    this.#counted.add(client);
  }

  #forget(client: string): void {
    if (this.#refused.delete(client)) this.#counted.remove(client);
  }
}

/** Moves it to the end; removes the first one when there are too many. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  const [oldest] = map.keys();
  if (map.size === MAX_NETWORKS && oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

/** Wrong keys per network: in a burst, and per second after it. */
const MAX_BURST = 100;
const MAX_PER_SECOND = 10;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/** The rate limit of wrong keys. A client above it loses its connection with the answer; a right key never does. */
export class WrongKeyPace {
  /** By network, ordered by the last wrong key, the oldest first. */
  readonly #buckets = new Map<string, Bucket>();

  /** Returns whether this is a wrong key above the limit. `nowMs`: the time of a monotonic clock. */
  exceeds(decision: Decision, nowMs: number): boolean {
    const client = wrongKeyOf(decision);
    if (client === undefined) return false;
    const network = networkOf(client);
    const { left, atMs } = this.#buckets.get(network) ?? { left: MAX_BURST, atMs: nowMs };
    const now = Math.min(MAX_BURST, left + ((nowMs - atMs) / 1000) * MAX_PER_SECOND);
    keep(this.#buckets, network, { left: now < 1 ? now : now - 1, atMs: nowMs });
    return now < 1;
  }
}
