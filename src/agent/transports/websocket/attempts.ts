/**
 * Limits for connections without a proof, and for attempts that failed. Silent connections keep no agent out: where there
 * are too many, the oldest one of the address that has most makes room, because an agent proves itself with its first message.
 */
import type { Clock } from '../../../clock.ts';
import { CountsByKey } from '../../../http/clients/counts-by-key.ts';
import type { Log } from '../../../log/log.ts';
import { MinuteLog } from './minute-log.ts';

/** A connection without a proof. */
export interface Unproven {
  readonly address: string;
  end(reason: 'crowded'): void;
}

/** Many agents may be behind one address. */
const MAX_OF_ADDRESS = 16;
const MAX_IN_ALL = 256;
/** Time for the proof of an agent; it takes one round trip. */
const PROOF_LIMIT_MS = 5000;
/** The same where half of the connections are in use. */
const CROWDED_LIMIT_MS = 2000;
/** Refused attempts of one address per minute; an agent makes three or four. */
const MAX_FAILURES = 30;
const MINUTE_MS = 60_000;
/** Addresses that are counted; with more the count begins again. */
const MAX_ADDRESSES = 10_000;
/** Addresses in a line of the log, those with most connections first. */
const MAX_NAMED = 3;

export class Attempts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  readonly #refused: MinuteLog;
  /** By address, each with its oldest first. */
  readonly #unproven = new Map<string, Set<Unproven>>();
  #inAll = 0;
  #failures = new CountsByKey();
  #endsAtMs = Number.NEGATIVE_INFINITY;
  /** Connections that were cut since the last line, by address. */
  #cut = new CountsByKey();
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#refused = new MinuteLog(clock, log);
  }

  /** Whether an address has failed too often to try now. */
  hasFailed(address: string): boolean {
    this.#turn();
    return this.#failures.of(address) >= MAX_FAILURES;
  }

  /** Time that a connection has for its proof. */
  get proofLimitMs(): number {
    return this.#inAll > MAX_IN_ALL / 2 ? CROWDED_LIMIT_MS : PROOF_LIMIT_MS;
  }

  /** Counts a new connection; where there are too many, another one is ended. */
  begin(connection: Unproven): void {
    const { address } = connection;
    const own = this.#unproven.get(address) ?? new Set();
    if (own.size >= MAX_OF_ADDRESS) this.#end(own);
    else if (this.#inAll >= MAX_IN_ALL) this.#end(this.#largest());
    // It may have been the last one of this address.
    this.#unproven.set(address, own);
    own.add(connection);
    this.#inAll++;
  }

  /** It has proved itself, or is gone. May be called again. */
  settle(connection: Unproven): void {
    const own = this.#unproven.get(connection.address);
    if (own?.delete(connection) !== true) return;
    this.#inAll--;
    if (own.size === 0) this.#unproven.delete(connection.address);
  }

  /** One line per minute. `why`: of what the other side has sent it has an id at most. */
  fail(address: string, why: string): void {
    this.#turn();
    if (this.#failures.size >= MAX_ADDRESSES) this.#failures = new CountsByKey();
    this.#failures.add(address);
    this.#refused.warn(`refused an agent: ${why}`, { address });
  }

  /** Called every second: logs what was cut, in one line per minute. */
  look(nowMs: number): void {
    if (this.#cut.size === 0 || nowMs - this.#loggedAtMs < MINUTE_MS) return;
    this.#loggedAtMs = nowMs;
    const counts = [...this.#cut].sort(([, a], [, b]) => b - a);
    this.#cut = new CountsByKey();
    const sum = counts.reduce((all, [, count]) => all + count, 0);
    const named = counts.slice(0, MAX_NAMED).map(([address, count]) => `${address} (${count})`);
    this.#log.warn(
      `closed ${sum} unauthenticated ${sum === 1 ? 'connection' : 'connections'} of agents to make room for others: ` +
        `${counts.length} ${counts.length === 1 ? 'address' : 'addresses'}, most from ${named.join(', ')}`,
    );
  }

  #largest(): ReadonlySet<Unproven> {
    return [...this.#unproven.values()].reduce((a, b) => (b.size > a.size ? b : a));
  }

  /** Ends the oldest one of an address. */
  #end([oldest]: Iterable<Unproven>): void {
    if (oldest === undefined) return;
    this.settle(oldest);
    if (this.#cut.size >= MAX_ADDRESSES) this.#cut = new CountsByKey();
    this.#cut.add(oldest.address);
    oldest.end('crowded');
  }

  #turn(): void {
    const nowMs = this.#clock.now();
    if (nowMs < this.#endsAtMs) return;
    this.#failures = new CountsByKey();
    this.#endsAtMs = nowMs + MINUTE_MS;
  }
}
