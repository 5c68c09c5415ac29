/** A warning that others can cause as often as they like: one line per minute, with the number of those before it. */
import type { Clock } from '../../../clock.ts';
import type { Log } from '../../../log/log.ts';

const MINUTE_MS = 60_000;

export class MinuteLog {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Log;
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(clock: Pick<Clock, 'now'>, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  warn(text: string, fields: Parameters<Log['warn']>[1]): void {
    const nowMs = this.#clock.now();
    if (nowMs - this.#loggedAtMs < MINUTE_MS) {
      this.#unlogged++;
      return;
    }
    this.#log.warn(this.#unlogged === 0 ? text : `${text} (and ${this.#unlogged} more before)`, fields);
    this.#loggedAtMs = nowMs;
    this.#unlogged = 0;
  }
}
