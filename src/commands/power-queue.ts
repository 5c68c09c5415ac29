/** Accepted power acts on their way to the machine: after their answers, in order, one at a time. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Delivery, Follower, Step } from './command.ts';
import type { PowerAction, PowerBackend } from './power-backend.ts';

/** How an accepted act ended, for whoever is still there to hear it. */
export interface PowerFeedback {
  readonly action: PowerAction;
  readonly success: boolean;
  readonly message: string;
}

export interface PowerQueueOptions {
  readonly backend: PowerBackend;
  readonly clock: Clock;
  readonly log: Log;
  /** The followers have heard of it by then. */
  readonly onFeedback: (feedback: PowerFeedback, followers: ReadonlySet<Follower>) => void;
  /** What the power manager is asked, or has recorded, has changed. */
  readonly onChange?: () => void;
}

/** From the last byte handed to the kernel to the act: what a packet and its reader may need. */
const GRACE_MS = 100;
/** The promise is 500 ms at the latest; timers fire a little late. */
const LATEST_MS = 480;
/** What sending an answer takes at most: who asks in the last moment is answered before the act all the same. */
const ANSWER_MS = 20;

interface PendingAnswer {
  readonly acceptedAtMs: number;
}

interface Entry {
  readonly action: PowerAction;
  isForced: boolean;
  /** Those of which nothing is known yet, oldest first. */
  readonly pendingAnswers: Set<PendingAnswer>;
  readonly followers: Set<Follower>;
  /** When the answers that are known of have been given enough time. */
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
   * Queues `action`; one that is queued already is joined, and then waits for this answer too. The function that is
   * returned is to be told once how the answer went.
   */
  add(action: PowerAction, isForced: boolean, follower: Follower | undefined): (delivery: Delivery) => void {
    const entry = this.#entries.find((queued) => queued.action === action) ?? this.#append(action);
    entry.isForced ||= isForced;
    if (follower !== undefined) entry.followers.add(follower);
    const answer: PendingAnswer = { acceptedAtMs: this.#options.clock.now() };
    entry.pendingAnswers.add(answer);
    this.#options.log.debug(`power: accepted ${action}`);
    this.#advance();
    return (delivery) => {
      if (!entry.pendingAnswers.delete(answer)) return;
      const graceMs = delivery === 'sent' ? GRACE_MS : 0;
      entry.graceEndsAtMs = Math.max(entry.graceEndsAtMs, this.#options.clock.now() + graceMs);
      this.#advance();
    };
  }

  /** Forgets what is still queued; each is told as a failure with `reason`. What is being acted on goes on. */
  drop(reason: string): void {
    const dropped = this.#entries;
    this.#entries = [];
    this.#advance();
    for (const entry of dropped) this.#fail(entry, `${entry.action} was dropped: ${reason}`);
  }

  #append(action: PowerAction): Entry {
    const now = this.#options.clock.now();
    const entry = {
      action,
      isForced: false,
      pendingAnswers: new Set<PendingAnswer>(),
      followers: new Set<Follower>(),
      graceEndsAtMs: now,
      latestAtMs: now + LATEST_MS,
    };
    this.#entries.push(entry);
    return entry;
  }

  // Hands the first entry over if its time has come, else sets the timer for it.
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
    tell(entry, { stage: 'running', message: `Handing over ${action}` });
    let failure: string | undefined;
    try {
      await backend.act(action, { isForced });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
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
    const { onFeedback, onChange } = this.#options;
    tell(entry, step);
    const { action, followers } = entry;
    onFeedback({ action, success: step.stage === 'done', message: step.message }, followers);
    onChange?.();
  }
}

function tell({ followers }: Entry, step: Step): void {
  for (const follower of followers) follower(step);
}

function readyAtMs({ pendingAnswers, graceEndsAtMs, latestAtMs }: Entry): number {
  const youngest = [...pendingAnswers].at(-1);
  if (youngest === undefined) return Math.min(graceEndsAtMs, latestAtMs);
  return Math.max(latestAtMs, youngest.acceptedAtMs + ANSWER_MS);
}
