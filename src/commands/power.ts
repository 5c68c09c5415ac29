/** The power commands: what is refused and why, what is scheduled, what is queued; and their rows in the table. */
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';
import { checkParams, type Params } from '../params.ts';
import type { PowerCapabilities, PowerPayload, PowerResult, TimedPowerAct } from '../wire/power.ts';
import { POWER_ACTIONS, powerParams } from '../wire/requests.ts';
import { type Command, defineCommand, type Feature, type Follower, type Outcome } from './command.ts';
import type { PowerAction } from './power-backend.ts';
import { PowerQueue, type PowerQueueOptions } from './power-queue.ts';

/** Which flag allows an action. Locking is a small sleep: it needs no flag of its own. */
const FEATURES: Readonly<Record<PowerAction, Feature>> = {
  shutdown: 'enable_shutdown',
  restart: 'enable_restart',
  sleep: 'enable_sleep',
  hibernate: 'enable_hibernate',
  lock: 'enable_sleep',
};

/** What logind's inhibitors call it; nothing inhibits locking. */
const INHIBITED_AS: Readonly<Record<PowerAction, string | undefined>> = {
  shutdown: 'shutdown',
  restart: 'shutdown',
  sleep: 'sleep',
  hibernate: 'sleep',
  lock: undefined,
};

export interface PowerParams {
  /** 0: at once. */
  readonly delaySeconds: number;
  readonly isForced: boolean;
}

export interface PowerOptions extends PowerQueueOptions {
  /** Wall clock, Unix milliseconds. */
  readonly unixMs: () => number;
  readonly features: () => Config['features'];
}

interface Scheduled {
  readonly action: PowerAction;
  readonly isForced: boolean;
  /** Wall clock: what the machine's sleep does not stop. */
  readonly dueUnixMs: number;
  readonly follower: Follower | undefined;
  timer: unknown;
}

const okResult = (message: string): PowerResult & Outcome['result'] => ({ status: 'ok', message });
/** The contract's answer, the same for every action. */
const INITIATED = okResult('Command initiated');

export class Power {
  readonly #options: PowerOptions;
  readonly #queue: PowerQueue;
  #scheduled: Scheduled | undefined;
  #isClosed = false;

  constructor(options: PowerOptions) {
    this.#options = options;
    this.#queue = new PowerQueue(options);
  }

  /**
   * Accepts `action`, or rejects with ServiceError: `not_supported`, `not_possible_now` (root holds it up),
   * `power_pending` (with a delay only), `shutting_down`. Its flag is the table's affair.
   */
  async request(
    action: PowerAction,
    { delaySeconds, isForced }: PowerParams,
    follower?: Follower,
  ): Promise<Outcome> {
    await this.#judge(action, isForced);
    if (this.#isClosed) throw new ServiceError('shutting_down', 'The service is stopping.');
    if (delaySeconds === 0) {
      const onDelivered = this.#queue.add(action, isForced, follower);
      return { result: INITIATED, onDelivered, isFollowed: true };
    }
    if (this.#scheduled !== undefined)
      throw new ServiceError('power_pending', 'Another action is scheduled; cancel it first.', {
        ...timed(this.#scheduled),
      });
    this.#schedule({
      action,
      isForced,
      dueUnixMs: this.#options.unixMs() + delaySeconds * 1000,
      follower,
      timer: undefined,
    });
    return { result: INITIATED, isFollowed: true };
  }

  /** Takes back what was scheduled with a delay. */
  cancel(): Outcome {
    const scheduled = this.#scheduled;
    if (scheduled === undefined) return { result: okResult('Nothing pending') };
    this.#unschedule();
    const message = `the scheduled ${scheduled.action} was cancelled`;
    this.#options.log.info(`power: ${message}`);
    scheduled.follower?.({ stage: 'cancelled', message });
    return { result: okResult(`Cancelled ${scheduled.action}`) };
  }

  async capabilities(): Promise<PowerCapabilities> {
    const features = this.#options.features();
    const rows = POWER_ACTIONS.map(async (action) => {
      const { isSupported, reason } = await this.#options.backend.support(action);
      return [action, { enabled: features[FEATURES[action]], supported: isSupported, reason }] as const;
    });
    // One entry for each of POWER_ACTIONS, which Object.fromEntries can't know.
    return Object.fromEntries(await Promise.all(rows)) as PowerCapabilities;
  }

  async status(): Promise<PowerPayload> {
    const { backend } = this.#options;
    const [actions, inhibitors] = await Promise.all([this.capabilities(), backend.inhibitors()]);
    return {
      actions,
      pending: this.#scheduled === undefined ? null : timed(this.#scheduled),
      inhibitors: inhibitors.map(({ who, why, what, uid }) => ({ who, why, what, uid })),
      recorded: (backend.recorded?.() ?? []).map(({ action, atMs }) => ({ action, at: unixSeconds(atMs) })),
    };
  }

  /**
   * To be called when the machine has woken: what was asked before it slept is no longer wanted now. A scheduled
   * act whose time passed meanwhile is dropped too; one that is still to come keeps its time on the wall clock.
   */
  drop(): void {
    this.#queue.drop('the machine has just woken');
    const scheduled = this.#scheduled;
    if (scheduled === undefined) return;
    this.#unschedule();
    if (scheduled.dueUnixMs > this.#options.unixMs()) this.#schedule(scheduled);
    else this.#fail(scheduled, 'its time passed while the machine slept');
  }

  /** Accepts nothing more and forgets what has not been handed over. */
  close(): void {
    this.#isClosed = true;
    this.#queue.drop('the service is stopping');
    const scheduled = this.#scheduled;
    this.#unschedule();
    if (scheduled !== undefined) this.#fail(scheduled, 'the service is stopping');
    this.#options.backend.close?.();
  }

  async #judge(action: PowerAction, isForced: boolean): Promise<void> {
    const { backend, log } = this.#options;
    // Both at once: together they are to take no longer than one.
    const [support, inhibitors] = await Promise.all([backend.support(action), backend.inhibitors()]);
    if (!support.isSupported)
      throw new ServiceError('not_supported', `This machine can't be commanded to ${action}.`, {
        reason: support.reason,
      });
    const what = INHIBITED_AS[action];
    if (what === undefined) return;
    const standing = inhibitors.filter((held) => held.what.split(':').includes(what));
    const ofRoot = standing.find((held) => held.uid === 0);
    if (ofRoot !== undefined && !isForced) {
      const { who, why } = ofRoot;
      throw new ServiceError('not_possible_now', `${who} holds up ${what}: ${why}`, { who, why });
    }
    for (const { who, why, uid } of standing)
      log.warn(`power: ${action} overrides the inhibitor of ${who} (uid ${uid}): ${why}`);
  }

  #schedule(scheduled: Scheduled): void {
    const { clock, unixMs } = this.#options;
    this.#scheduled = scheduled;
    scheduled.timer = clock.setTimer(() => void this.#fire(scheduled), scheduled.dueUnixMs - unixMs());
    this.#options.onChange?.();
  }

  #unschedule(): void {
    if (this.#scheduled === undefined) return;
    this.#options.clock.clearTimer(this.#scheduled.timer);
    this.#scheduled = undefined;
    this.#options.onChange?.();
  }

  // Much may have changed since it was accepted: it is judged again, and there is nobody left to answer.
  async #fire(scheduled: Scheduled): Promise<void> {
    const { action, isForced, follower } = scheduled;
    this.#unschedule();
    try {
      if (!this.#options.features()[FEATURES[action]]) throw new Error('it was switched off meanwhile');
      await this.#judge(action, isForced);
      if (this.#isClosed) throw new Error('the service is stopping');
      this.#queue.add(action, isForced, follower)('closed');
    } catch (error) {
      this.#fail(scheduled, error instanceof Error ? error.message : String(error));
    }
  }

  #fail({ action, follower }: Scheduled, reason: string): void {
    const message = `the scheduled ${action} was not done: ${reason}`;
    this.#options.log.error(`power: ${message}`);
    follower?.({ stage: 'failed', message });
    this.#options.onFeedback({ action, success: false, message }, new Set(follower && [follower]));
  }
}

const unixSeconds = (ms: number) => Math.round(ms / 1000);

const timed = ({ action, dueUnixMs }: Scheduled): TimedPowerAct => ({ action, at: unixSeconds(dueUnixMs) });

/** Throws `invalid_value`. */
function checkPowerParams(params: Params): PowerParams {
  const { delay, force } = checkParams(powerParams, params);
  return { delaySeconds: delay, isForced: force };
}

/** `power.shutdown` … `power.lock`, `power.cancel`. */
export function powerCommands(power: Power): readonly Command[] {
  const acts = POWER_ACTIONS.map((action) =>
    defineCommand({
      name: `power.${action}`,
      feature: FEATURES[action],
      check: checkPowerParams,
      run: (params, follower) => power.request(action, params, follower),
    }),
  );
  const cancel = defineCommand({
    name: 'power.cancel',
    feature: undefined,
    check: () => undefined,
    run: () => power.cancel(),
  });
  return [...acts, cancel];
}
