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

/** Returns the function that ends it. */
export function startHeartbeat({ url, intervalMs, clock, log, check }: HeartbeatOptions): () => void {
  const abort = new AbortController();
  let timer: unknown;
  let isFailing = false;
  const request = async () => {
    await check();
    const { status } = await send({ url }, abort.signal);
    if (status < 200 || status > 299) throw new Error(`the answer is ${status}`);
  };
  const beat = async () => {
    const failure = await request().then(() => undefined, reasonOf);
    if (abort.signal.aborted) return;
    if (failure !== undefined && !isFailing) log.warn(`notify.heartbeat: ${failure}`);
    if (failure === undefined && isFailing) log.info('notify.heartbeat: works again');
    isFailing = failure !== undefined;
    timer = clock.setTimer(beat, intervalMs);
  };
  void beat();
  return () => {
    abort.abort();
    clock.clearTimer(timer);
  };
}
