/** What carries power commands out: the interface, a backend that only records, and one for a machine that has none. */
import type { PowerAct } from '../host/power.ts';
import type { Log } from '../log.ts';
import type { Inhibitor } from '../wire/power.ts';

export type PowerAction = PowerAct;

export type Support =
  | { readonly isSupported: true; readonly reason: null }
  /** Why not, as a sentence without a full stop. */
  | { readonly isSupported: false; readonly reason: string };

export interface RecordedAct {
  readonly action: PowerAction;
  /** Unix milliseconds. */
  readonly atMs: number;
}

export interface PowerBackend {
  /** What the machine's power manager says of itself. Never rejects: one that can't be asked is not supported. */
  support(action: PowerAction): Promise<Support>;
  /**
   * Hands `action` over, once. Block inhibitors of users are overridden; with `isForced` those of root as well.
   * Settles when the power manager has taken it; for sleep and hibernate best when the machine has woken, since the
   * next act waits for it. Rejects with an Error whose message says why it failed.
   */
  act(action: PowerAction, options: { readonly isForced: boolean }): Promise<void>;
  /** The block inhibitors that stand; those that only delay are not among them. Empty where none can be known. */
  inhibitors(): Promise<readonly Inhibitor[]>;
  /** What was done in its stead, oldest first; only a backend that does nothing has it. */
  recorded?(): readonly RecordedAct[];
  /** Lets go of the machine. */
  close?(): void;
}

/** More would be a leak in a trial that runs for months. */
const MOST_RECORDED = 1000;

/** Supports everything and does nothing: lists what it would have done, the newest thousand. */
export function recordingBackend(unixMs: () => number, log: Log): PowerBackend {
  const acts: RecordedAct[] = [];
  return {
    support: async () => ({ isSupported: true, reason: null }),
    async act(action) {
      acts.push({ action, atMs: unixMs() });
      if (acts.length > MOST_RECORDED) acts.shift();
      log.info(`power: recorded ${action}; nothing was done (power.backend is record)`);
    },
    inhibitors: async () => [],
    recorded: () => [...acts],
  };
}

/** A machine whose power can't be commanded, and why. */
export function absentBackend(reason: string): PowerBackend {
  return {
    support: async () => ({ isSupported: false, reason }),
    async act(action) {
      throw new Error(`${action} is not possible: ${reason}`);
    },
    inhibitors: async () => [],
  };
}
