/** What GET /api/pw answers, and what the power commands answer with. */

/** One act on the machine, as `actions` shows it. */
export interface PowerCapability {
  /** Its feature flag is on. */
  readonly enabled: boolean;
  /** The machine's power manager says that it can. */
  readonly supported: boolean;
  /** Why it is not supported; null where it is. */
  readonly reason: string | null;
}

/** An act and when it is due, or was handed over: Unix seconds. */
export interface TimedPowerAct {
  readonly action: string;
  readonly at: number;
}

/** A program that asks the machine to stay awake or up. */
export interface Inhibitor {
  readonly who: string;
  readonly why: string;
  /** As logind spells it: what is held off, separated by colons (`shutdown:sleep:idle`). */
  readonly what: string;
  readonly uid: number;
}

export interface PowerPayload {
  readonly actions: Readonly<Record<string, PowerCapability>>;
  /** The act that was scheduled with `delay`. */
  readonly pending: TimedPowerAct | null;
  readonly inhibitors: readonly Inhibitor[];
  /** What the recording backend would have done; empty with any other. */
  readonly recorded: readonly TimedPowerAct[];
}

export interface PowerResult {
  readonly status: 'ok';
  readonly message: string;
}
