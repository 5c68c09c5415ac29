/** Accepted power acts on their way to the machine: after their answers, in order, one at a time. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Delivery } from './command.ts';
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
  readonly onFeedback: (feedback: PowerFeedback) => void;
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
  add(action: PowerAction, isForced: boolean): (delivery: Delivery) => void {
    const entry = this.#entries.find((queued) => queued.action === action) ?? this.#append(action);
    entry.isForced ||= isForced;
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
    for (const { action } of dropped) this.#fail(action, `${action} was dropped: ${reason}`);
  }

  #append(action: PowerAction): Entry {
    const now = this.#options.clock.now();
    const entry = {
      action,
      isForced: false,
      pendingAnswers: new Set<PendingAnswer>(),
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

  async #act({ action, isForced }: Entry): Promise<void> {
    const { backend, log, onFeedback } = this.#options;
    this.#isActing = true;
    log.info(`power: handing over ${action}`);
    let failure: string | undefined;
    try {
      await backend.act(action, { isForced });
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    this.#isActing = false;
    this.#advance();
    if (failure === undefined) onFeedback({ action, success: true, message: 'Done' });
    else this.#fail(action, `${action} failed: ${failure}`);
  }

  #fail(action: PowerAction, message: string): void {
    this.#options.log.error(`power: ${message}`);
    this.#options.onFeedback({ action, success: false, message });
  }
}

function readyAtMs({ pendingAnswers, graceEndsAtMs, latestAtMs }: Entry): number {
  const youngest = [...pendingAnswers].at(-1);
  if (youngest === undefined) return Math.min(graceEndsAtMs, latestAtMs);
  return Math.max(latestAtMs, youngest.acceptedAtMs + ANSWER_MS);
}
