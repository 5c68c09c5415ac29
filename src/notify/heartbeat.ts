/** Requests an address at an interval while the service samples well: of Healthchecks, or Uptime Kuma. */
import type { Clock } from '../clock.ts';
import { messageOf as reasonOf } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { send } from './request.ts';

export interface HeartbeatOptions {
  readonly url: string;
  readonly intervalMs: number;
  readonly clock: Pick<Clock, 'setTimer' | 'clearTimer'>;
  readonly log: Pick<Log, 'warn' | 'info'>;
  /** Rejects where the service cannot do its work. */
  readonly check: () => Promise<unknown>;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #abort = new AbortController();
  #timer: unknown;
  #isFailing = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    void this.#beat();
  }

  close(): void {
    this.#abort.abort();
    this.#options.clock.clearTimer(this.#timer);
  }

  async #beat(): Promise<void> {
    const failure = await this.#request();
    if (this.#abort.signal.aborted) return;
    this.#report(failure);
    const { clock, intervalMs } = this.#options;
    this.#timer = clock.setTimer(() => this.#beat(), intervalMs);
  }

  /** Returns why it failed. */
  async #request(): Promise<string | undefined> {
    const { url, check } = this.#options;
    try {
      await check();
      const { status } = await send({ url }, this.#abort.signal);
      return status >= 200 && status < 300 ? undefined : `the answer is ${status}`;
    } catch (error) {
      return reasonOf(error);
    }
  }

  #report(failure: string | undefined): void {
    const { log } = this.#options;
    if (failure !== undefined && !this.#isFailing) log.warn(`notify.heartbeat: ${failure}`);
    if (failure === undefined && this.#isFailing) log.info('notify.heartbeat: works again');
    this.#isFailing = failure !== undefined;
  }
}
