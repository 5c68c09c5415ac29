/** Accepted power actions on their way to the machine: after their replies, in order, one at a time. */
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { PowerAction } from '../host/power.ts';
import type { Log } from '../log/log.ts';
import type { Delivery, Follower, Step } from './command.ts';
import type { PowerBackend } from './power-backend.ts';

/** How an accepted action ended. */
export interface PowerFeedback {
  readonly action: PowerAction;
  readonly success: boolean;
  readonly message: string;
}

export interface PowerQueueOptions {
  readonly backend: PowerBackend;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when an action is about to be handed over. */
  readonly onAct?: (action: PowerAction) => void;
  /** Called when an action has ended, after its `followers` were. */
  readonly onEnd: (feedback: PowerFeedback, followers: ReadonlySet<Follower>) => void;
}

/** From the reply's last byte to the action: time for the packet to travel and to be read. */
const GRACE_MS = 100;
/** The promise is 500 ms at the latest; timers fire a little late. */
const LATEST_MS = 480;
/** Maximum time to send a reply: an action requested in the last moment is still answered before it is handed over. */
const REPLY_MS = 20;

interface PendingReply {
  readonly acceptedAtMs: number;
}

interface Entry {
  readonly action: PowerAction;
  isForced: boolean;
  /** The replies that may not have left yet, oldest first. */
  readonly pendingReplies: Set<PendingReply>;
  readonly followers: Set<Follower>;
  /** When every reply that has left has had its grace. */
  graceEndsAtMs: number;
  readonly latestAtMs: number;
}

export class PowerQueue {
  readonly #options: PowerQueueOptions;
  #entries: Entry[] = [];
  #isActing = false;
  #timer: unknown;

  constructor(options: PowerQueueOptions) {
    this.#options = options;
  }

  /**
   * Queues `action`, or joins the one that is queued already, which then waits for this reply too. Call the returned
   * function once, with what became of the reply.
   */
  add(action: PowerAction, isForced: boolean, follower: Follower | undefined): (delivery: Delivery) => void {
    const entry = this.#entries.find((queued) => queued.action === action) ?? this.#append(action);
    entry.isForced ||= isForced;
    if (follower !== undefined) entry.followers.add(follower);
    const reply: PendingReply = { acceptedAtMs: this.#options.clock.now() };
    entry.pendingReplies.add(reply);
    this.#options.log.debug(`power: accepted ${action}`);
    this.#advance();
    return (delivery) => {
      if (!entry.pendingReplies.delete(reply)) return;
      const graceMs = delivery === 'sent' ? GRACE_MS : 0;
      entry.graceEndsAtMs = Math.max(entry.graceEndsAtMs, this.#options.clock.now() + graceMs);
      this.#advance();
    };
  }

  /** Drops queued actions, as failures for `reason`. An action that was handed over continues. */
  drop(reason: string): void {
    const dropped = this.#entries;
    this.#entries = [];
    this.#advance();
    for (const entry of dropped) this.#fail(entry, `${entry.action} was not carried out: ${reason}`);
  }

  #append(action: PowerAction): Entry {
    const now = this.#options.clock.now();
    const entry = {
      action,
      isForced: false,
      pendingReplies: new Set<PendingReply>(),
      followers: new Set<Follower>(),
      graceEndsAtMs: now,
      latestAtMs: now + LATEST_MS,
    };
    this.#entries.push(entry);
    return entry;
  }

  // Hands the first entry over if it is due, otherwise sets the timer for it.
  #advance(): void {
    const { clock } = this.#options;
    clock.clearTimer(this.#timer);
    this.#timer = undefined;
    const [first] = this.#entries;
    if (first === undefined || this.#isActing) return;
    const waitMs = readyAtMs(first) - clock.now();
    if (waitMs > 0) {
      this.#timer = clock.setTimer(() => this.#advance(), waitMs);
      return;
    }
    this.#entries.shift();
    void this.#act(first);
  }

  async #act(entry: Entry): Promise<void> {
    const { backend, log } = this.#options;
    const { action, isForced } = entry;
    this.#isActing = true;
    log.info(`power: handing over ${action}`);
    notifyFollowers(entry, { stage: 'running', message: `Handing over ${action}` });
    this.#options.onAct?.(action);
    let failure: string | undefined;
    try {
      await backend.act(action, { isForced });
    } catch (error) {
      failure = messageOf(error);
    }
    this.#isActing = false;
    this.#advance();
    if (failure === undefined) this.#end(entry, { stage: 'done', message: 'Done' });
    else this.#fail(entry, `${action} failed: ${failure}`);
  }

  #fail(entry: Entry, message: string): void {
    this.#options.log.error(`power: ${message}`);
    this.#end(entry, { stage: 'failed', message });
  }

  #end(entry: Entry, step: Step): void {
    notifyFollowers(entry, step);
    const { action, followers } = entry;
    this.#options.onEnd({ action, success: step.stage === 'done', message: step.message }, followers);
  }
}

function notifyFollowers({ followers }: Entry, step: Step): void {
  for (const { onStep } of followers) onStep(step);
}

function readyAtMs({ pendingReplies, graceEndsAtMs, latestAtMs }: Entry): number {
  const youngest = [...pendingReplies].at(-1);
  if (youngest === undefined) return Math.min(graceEndsAtMs, latestAtMs);
  return Math.max(latestAtMs, youngest.acceptedAtMs + REPLY_MS);
}
