/** Limits for connections on which nobody has proved anything yet, and for attempts that failed. */
import type { Clock } from '../../clock.ts';
import { Tally } from '../../http/clients/tally.ts';
import type { Log } from '../../log/log.ts';
import { MinuteLog } from './minute-log.ts';

/** Many agents may be behind one address. */
const MAX_OF_ADDRESS = 16;
const MAX_IN_ALL = 256;
/** Refused attempts of one address per minute; an agent makes three or four. */
const MAX_FAILURES = 30;
const MINUTE_MS = 60_000;
/** Addresses that are counted; with more the count begins again. */
const MAX_ADDRESSES = 10_000;

export class Attempts {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #refused: MinuteLog;
  readonly #unproven = new Tally();
  #inAll = 0;
  #failures = new Tally();
  #endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#refused = new MinuteLog(clock, log);
  }

  /** Why an address may not try now. */
  refusal(address: string): 'failures' | 'full' | undefined {
    this.#turn();
    if (this.#failures.of(address) >= MAX_FAILURES) return 'failures';
    return this.#inAll >= MAX_IN_ALL || this.#unproven.of(address) >= MAX_OF_ADDRESS ? 'full' : undefined;
  }

  begin(address: string): void {
    this.#unproven.add(address);
    this.#inAll++;
  }

  /** It has proved itself, or is gone. */
  settle(address: string): void {
    this.#unproven.remove(address);
    this.#inAll--;
  }

  /** One line per minute. `why`: of what the other side has sent it has an id at most. */
  fail(address: string, why: string): void {
    this.#turn();
    if (this.#failures.size >= MAX_ADDRESSES) this.#failures = new Tally();
    this.#failures.add(address);
    this.#refused.warn(`an agent that dials in was refused: ${why}`, { address });
  }

  #turn(): void {
    const nowMs = this.#clock.now();
    if (nowMs < this.#endsAtMs) return;
    this.#failures = new Tally();
    this.#endsAtMs = nowMs + MINUTE_MS;
  }
}
