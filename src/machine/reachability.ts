/** Whether a machine is there, since when, and why not. */
import { ServiceError } from '../errors.ts';
import { RATES } from '../fairness/limits.ts';
import { Bucket } from '../fairness/rate.ts';
import type { ClosingReason } from '../wire/closing-reasons.ts';
import type { Condition } from './registry.ts';
import type { RemoteDeps } from './remote-deps.ts';

export const RESTARTS = 'it restarts';
/** Servers test their memory first. */
export const RESTART_SECONDS = 600;

/** What its plan makes of a machine. */
export const PLANNED: Readonly<Record<ClosingReason, Omit<Condition, 'since'>>> = {
  sleep: { state: 'asleep', reason: 'it sleeps' },
  hibernate: { state: 'asleep', reason: 'it hibernates' },
  shutdown: { state: 'off', reason: 'it was shut down' },
  restart: { state: 'off', reason: RESTARTS },
  stop: { state: 'down', reason: 'its service has stopped' },
};

const unixSeconds = () => Date.now() / 1000;

export class Reachability {
  readonly #id: string;
  readonly #deps: Pick<RemoteDeps, 'log' | 'clock' | 'conditions'>;
  #condition: Condition;
  /** Whether it was up once, perhaps before this hub started. */
  #wasUp: boolean;
  /** Changes with the condition. */
  version = 0;
  readonly #lines: Bucket;

  /** `before`: its condition when this hub last ran. */
  constructor(id: string, deps: Pick<RemoteDeps, 'log' | 'clock' | 'conditions'>, before?: Condition) {
    this.#id = id;
    this.#deps = deps;
    this.#lines = new Bucket(RATES.machineLines, deps.clock.now());
    this.#wasUp = before !== undefined;
    this.#condition = before ?? { state: 'unknown', since: unixSeconds(), reason: 'not contacted yet' };
  }

  get condition(): Condition {
    return this.#condition;
  }

  get isUp(): boolean {
    return this.#condition.state === 'up';
  }

  /** `isQuiet`: the line is for debugging only. */
  set(next: Omit<Condition, 'since'>, isQuiet = false): void {
    const { state, reason } = this.#condition;
    this.#wasUp ||= next.state === 'up';
    const condition = next.state === 'down' && !this.#wasUp ? { ...next, state: 'unknown' as const } : next;
    if (state === condition.state && reason === condition.reason) return;
    // Since the state began, whatever the reasons were.
    const since = state === condition.state ? this.#condition.since : unixSeconds();
    if (state !== condition.state || this.version === 0) this.#log(condition, isQuiet);
    // Literals take half the memory of what spreading makes.
    const { state: now, reason: why } = condition;
    this.#condition = why === undefined ? { state: now, since } : { state: now, since, reason: why };
    this.version++;
    this.#deps.conditions.notify(this.#id);
  }

  #log({ state, reason }: Omit<Condition, 'since'>, isQuiet: boolean): void {
    const { log, clock } = this.#deps;
    const isTooMuch = isQuiet || !this.#lines.takeOne(clock.now());
    const line = `host ${this.#id} is ${state}${reason === undefined ? '' : `: ${reason}`}`;
    if (isTooMuch) log.debug(line);
    else if (state === 'up' || state === 'asleep' || state === 'off') log.info(line);
    else log.warn(line);
  }

  /** The error for clients of a machine that is not up. */
  refusal(): ServiceError {
    const { state, reason = '' } = this.#condition;
    const message = state === 'refused' ? 'The machine refuses this hub.' : 'The machine cannot be reached.';
    return new ServiceError('host_unreachable', message, { state, reason });
  }
}
