/** Validation, scheduling and queueing of power actions, and their rows in the table of commands. */
import type { CurrentConfig } from '../config/current.ts';
import { messageOf, ServiceError } from '../errors.ts';
import type { PowerAction, PowerNotice } from '../host/power.ts';
import { Listeners } from '../listeners.ts';
import { checkParams, type Params } from '../params.ts';
import { OPERATIONS } from '../wire/operations.ts';
import type { PowerCapabilities, PowerPayload, PowerResult, TimedPowerAction } from '../wire/power.ts';
import { POWER_ACTIONS, powerParams } from '../wire/requests.ts';
import type { Command, Follower, Outcome } from './command.ts';
import type { SleepDelays } from './power-backend.ts';
import { type PowerFeedback, PowerQueue, type PowerQueueOptions } from './power-queue.ts';

/** The names of the actions in logind's inhibitors; nothing inhibits locking. */
const INHIBITED_AS: Readonly<Record<PowerAction, string | undefined>> = {
  shutdown: 'shutdown',
  restart: 'shutdown',
  sleep: 'sleep',
  hibernate: 'sleep',
  lock: undefined,
};

/** An action that ends the work of the machine, at least for a while. */
export type Plan = Exclude<PowerAction, 'lock'>;

export interface PowerParams {
  /** 0: immediately. */
  readonly delaySeconds: number;
  readonly isForced: boolean;
}

export interface PowerOptions extends Omit<PowerQueueOptions, 'onAct' | 'onEnd'> {
  /** Wall clock, Unix milliseconds. */
  readonly unixMs: () => number;
  readonly config: CurrentConfig;
}

/** How an action ended; its `followers` were called before. */
type FeedbackListener = (feedback: PowerFeedback, followers: ReadonlySet<Follower>) => void;

/** A request with a delay that the machine has not judged yet. */
interface Asked {
  readonly action: PowerAction;
  isCancelled: boolean;
}

interface Scheduled {
  readonly action: PowerAction;
  readonly isForced: boolean;
  /** By the wall clock, which runs while the machine sleeps. */
  readonly dueUnixMs: number;
  readonly follower: Follower | undefined;
  timer: unknown;
}

const okResult = (message: string): PowerResult & Outcome['result'] => ({ status: 'ok', message });
/** The contract's reply, the same for every action. */
const INITIATED = okResult('Command initiated');

export class Power {
  readonly delays: SleepDelays;
  readonly #options: PowerOptions;
  readonly #queue: PowerQueue;
  readonly #feedback = new Listeners<Parameters<FeedbackListener>>();
  readonly #changes = new Listeners();
  readonly #plans = new Listeners<[plan: Plan | undefined]>();
  #acting: Plan | undefined;
  /** By the last notice of the machine. */
  #noticed: Plan | undefined;
  #scheduled: Scheduled | undefined;
  readonly #asked = new Set<Asked>();
  #isClosed = false;

  constructor(options: PowerOptions) {
    this.#options = options;
    const { backend, clock, log } = options;
    this.delays = backend;
    const onEnd: FeedbackListener = (feedback, followers) => {
      const { action, success } = feedback;
      this.#acting = undefined;
      // After a sleep the machine is awake, however it went.
      if (isSleep(action) || !success) this.#plans.notify(undefined);
      this.#feedback.notify(feedback, followers);
      this.#changes.notify();
    };
    const onAct = (action: PowerAction) => {
      if (action === 'lock') return;
      this.#acting = action;
      this.#plans.notify(action);
    };
    this.#queue = new PowerQueue({ backend, clock, log, onAct, onEnd });
    backend.onNotice?.((notice) => this.#note(notice));
  }

  #note(notice: PowerNotice | null): void {
    const hasSlept = !isEnd(this.#noticed);
    this.#noticed = notice ?? undefined;
    // A notice need not tell a hibernation from a sleep, nor a restart from a shutdown.
    if (notice === null && hasSlept) this.drop();
    this.#plans.notify(notice === null ? undefined : (this.#acting ?? notice));
  }

  /** Calls `listener` when an action has ended, well or not. */
  onFeedback(listener: FeedbackListener): void {
    this.#feedback.add(listener);
  }

  /**
   * Calls `listener` with the plan before the machine sleeps, restarts or shuts down, as far as that is known, and with
   * undefined when it is awake or continues: more than once for one plan. Those of other programs are known from the first
   * request for power on, and all their sleeps are named `sleep`. Returns a function that removes it.
   */
  onPlan(listener: (plan: Plan | undefined) => void): () => void {
    return this.#plans.add(listener);
  }

  /** Calls `listener` when `status` may have changed. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /**
   * Accepts `action`, or rejects with ServiceError: `not_supported`, `not_possible_now` (an inhibitor of root, or it was
   * cancelled before its answer), `power_pending` (with a delay only), `shutting_down`. The table of commands judged its flag.
   */
  async request(
    action: PowerAction,
    { delaySeconds, isForced }: PowerParams,
    follower?: Follower,
  ): Promise<Outcome> {
    const asked: Asked = { action, isCancelled: false };
    if (delaySeconds > 0) this.#asked.add(asked);
    try {
      await this.#judge(action, isForced);
    } finally {
      this.#asked.delete(asked);
    }
    if (asked.isCancelled) throw new ServiceError('not_possible_now', `The ${action} was cancelled.`);
    if (this.#isClosed) throw new ServiceError('shutting_down', 'The service is shutting down.');
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

  /** Cancels the action that was scheduled with a delay, and requests with a delay that are still being judged. */
  cancel(): Outcome {
    const asked = [...this.#asked];
    for (const each of asked) each.isCancelled = true;
    const scheduled = this.#scheduled;
    if (scheduled === undefined)
      return {
        result: okResult(asked[0] === undefined ? 'Nothing pending' : `Cancelled ${asked[0].action}`),
      };
    this.#unschedule();
    const message = `the scheduled ${scheduled.action} was cancelled`;
    this.#options.log.info(`power: ${message}`);
    scheduled.follower?.onStep({ stage: 'cancelled', message });
    return { result: okResult(`Cancelled ${scheduled.action}`) };
  }

  async capabilities(): Promise<PowerCapabilities> {
    const { features } = this.#options.config.current;
    const rows = POWER_ACTIONS.map(async (action) => {
      const { isSupported, reason } = await this.#options.backend.support(action);
      return [
        action,
        { enabled: features[OPERATIONS[action].feature], supported: isSupported, reason },
      ] as const;
    });
    // One entry per action of POWER_ACTIONS, which the type of Object.fromEntries cannot express.
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
   * Called when the machine has woken: what was requested before it slept is no longer wanted. A scheduled action whose
   * time passed during the sleep is dropped too; one that is still to come keeps its time on the wall clock.
   */
  drop(): void {
    this.#queue.drop('the machine has only just woken');
    const scheduled = this.#scheduled;
    if (scheduled === undefined) return;
    this.#unschedule();
    if (scheduled.dueUnixMs > this.#options.unixMs()) this.#schedule(scheduled);
    else this.#fail(scheduled, 'it was due while the machine slept');
  }

  /** Accepts nothing more and drops what has not been handed over. */
  close(): void {
    this.#isClosed = true;
    this.#queue.drop('the service is shutting down');
    const scheduled = this.#scheduled;
    this.#unschedule();
    if (scheduled !== undefined) this.#fail(scheduled, 'the service is shutting down');
    this.#options.backend.close?.();
  }

  async #judge(action: PowerAction, isForced: boolean): Promise<void> {
    const { backend, log } = this.#options;
    // Concurrently: together they take no longer than one of them.
    const [support, inhibitors] = await Promise.all([backend.support(action), backend.inhibitors()]);
    if (!support.isSupported)
      throw new ServiceError('not_supported', `This machine cannot ${action}.`, {
        reason: support.reason,
      });
    const what = INHIBITED_AS[action];
    if (what === undefined) return;
    const active = inhibitors.filter((held) => held.what.split(':').includes(what));
    const rootHeld = active.find((held) => held.uid === 0);
    if (rootHeld !== undefined && !isForced) {
      const { who, why } = rootHeld;
      throw new ServiceError('not_possible_now', `${who} inhibits ${what}: ${why}`, { who, why });
    }
    for (const { who, why, uid } of active)
      log.warn(`power: ${action} overrides the inhibitor of ${who} (uid ${uid}): ${why}`);
  }

  #schedule(scheduled: Scheduled): void {
    const { clock, unixMs } = this.#options;
    this.#scheduled = scheduled;
    scheduled.timer = clock.setTimer(() => void this.#fire(scheduled), scheduled.dueUnixMs - unixMs());
    this.#changes.notify();
  }

  #unschedule(): void {
    if (this.#scheduled === undefined) return;
    this.#options.clock.clearTimer(this.#scheduled.timer);
    this.#scheduled = undefined;
    this.#changes.notify();
  }

  // Much may have changed since it was accepted, so it is judged again; its request was answered long ago.
  async #fire(scheduled: Scheduled): Promise<void> {
    const { action, isForced, follower } = scheduled;
    this.#unschedule();
    try {
      if (!this.#options.config.current.features[OPERATIONS[action].feature])
        throw new Error('it was disabled before it was due');
      await this.#judge(action, isForced);
      if (this.#isClosed) throw new Error('the service is shutting down');
      this.#queue.add(action, isForced, follower)('closed');
    } catch (error) {
      this.#fail(scheduled, messageOf(error));
    }
  }

  #fail({ action, follower }: Scheduled, reason: string): void {
    const message = `the scheduled ${action} was not carried out: ${reason}`;
    this.#options.log.error(`power: ${message}`);
    follower?.onStep({ stage: 'failed', message });
    this.#feedback.notify({ action, success: false, message }, new Set(follower && [follower]));
  }
}

/** Whether the service will end with it. */
export const isEnd = (plan: Plan | 'stop' | undefined): boolean => plan === 'shutdown' || plan === 'restart';

export const isSleep = (action: PowerAction | undefined): boolean =>
  action === 'sleep' || action === 'hibernate';
const unixSeconds = (ms: number) => Math.round(ms / 1000);

const timed = ({ action, dueUnixMs }: Scheduled): TimedPowerAction => ({
  action,
  at: unixSeconds(dueUnixMs),
});

/** Throws `invalid_value`. */
function checkPowerParams(params: Params): PowerParams {
  const { delay, force } = checkParams(powerParams, params);
  return { delaySeconds: delay, isForced: force };
}

/** `power.shutdown` … `power.lock`, `power.cancel`. */
export function powerCommands(power: Power): readonly Command[] {
  const acts = POWER_ACTIONS.map(
    (action): Command => ({
      name: `power.${action}`,
      prepare(params) {
        const checked = checkPowerParams(params);
        return (follower) => power.request(action, checked, follower);
      },
    }),
  );
  return [...acts, { name: 'power.cancel', prepare: () => () => power.cancel() }];
}
