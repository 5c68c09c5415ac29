/** The interface that carries power commands out, a backend that only records, and one for a machine without any. */
import { REMEMBERED } from '../fairness/limits.ts';
import type { PowerAction, PowerNotice } from '../host/power.ts';
import type { Log } from '../log/log.ts';
import type { Inhibitor } from '../wire/power.ts';

export type Support =
  /** The reason, where there is one, is what keeps it from being done in full. */
  | { readonly isSupported: true; readonly reason: string | null }
  /** The reason, as a sentence without a full stop. */
  | { readonly isSupported: false; readonly reason: string };

export interface RecordedAction {
  readonly action: PowerAction;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Has sleeps and shutdowns wait, where the power manager can. For one caller: it allows what it has delayed. */
export interface SleepDelays {
  /** As PowerHost's, but it never rejects: a sleep that does not wait is worth a line in the log. */
  delaySleep?(why: string): Promise<void>;
  /** As PowerHost's. */
  allowSleep?(): void;
}

export interface PowerBackend extends SleepDelays {
  /** The power manager's own answer. Never rejects: a power manager that cannot be asked supports nothing. */
  support(action: PowerAction): Promise<Support>;
  /**
   * Hands `action` over, once. Overrides block inhibitors of users; with `isForced` those of root as well.
   * Settles when the power manager has taken it; sleep and hibernate settle best when the machine has woken, because
   * the next action waits for it. Rejects with an Error whose message is the reason.
   */
  act(action: PowerAction, options: { readonly isForced: boolean }): Promise<void>;
  /** The block inhibitors in effect, without delay inhibitors. Empty where they are unknown. */
  inhibitors(): Promise<readonly Inhibitor[]>;
  /** The actions that were recorded instead of carried out, oldest first; absent in a backend that acts. */
  recorded?(): readonly RecordedAction[];
  /** As PowerHost's: whatever the cause. */
  onNotice?(listener: (notice: PowerNotice | null) => void): void;
  /** Releases the machine. */
  close?(): void;
}

/** Supports everything and does nothing; lists the newest thousand actions. */
export function recordingBackend(unixMs: () => number, log: Log): PowerBackend {
  const recorded: RecordedAction[] = [];
  return {
    support: async () => ({
      isSupported: true,
      reason: 'actions are recorded, not carried out: power.backend is record',
    }),
    async act(action) {
      recorded.push({ action, atMs: unixMs() });
      if (recorded.length > REMEMBERED.powerActions) recorded.shift();
      log.info(`power: recorded ${action}, not carried out (power.backend is record)`);
    },
    inhibitors: async () => [],
    recorded: () => [...recorded],
  };
}

/** For a machine whose power cannot be controlled, for `reason`. */
export function absentBackend(reason: string): PowerBackend {
  return {
    support: async () => ({ isSupported: false, reason }),
    async act(action) {
      throw new Error(`${action} is not possible: ${reason}`);
    },
    inhibitors: async () => [],
  };
}
