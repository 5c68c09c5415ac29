/** The machine's power manager as the platform reaches it. */

/** The actions it can be asked for. */
export type PowerAction = 'shutdown' | 'restart' | 'sleep' | 'hibernate' | 'lock';

export interface PowerSupport {
  readonly isSupported: boolean;
  /** Why it is not supported, as a sentence without a full stop; null when it is. */
  readonly reason: string | null;
}

/** A program that blocks an action. Delay inhibitors are not listed. */
export interface PowerInhibitor {
  readonly who: string;
  readonly why: string;
  /** The blocked actions in logind's notation, separated by colons. */
  readonly what: string;
  readonly uid: number;
}

/** Each call settles within about a second. There is no connection, and no thread, before the first call. */
export interface PowerHost {
  support(action: PowerAction): Promise<PowerSupport>;
  /**
   * Sends `action` once; it overrides block inhibitors. Resolves when the power manager has accepted it. Rejects with an
   * Error whose message gives the reason.
   */
  act(action: PowerAction): Promise<void>;
  /** Rejects with an Error when they cannot be determined; empty where the platform has none. */
  inhibitors(): Promise<readonly PowerInhibitor[]>;
  /**
   * From now on each sleep waits for `allowSleep`, for a second at most, whoever asks for it; also with a power manager that
   * starts later. `why` is shown to users. Rejects with an Error whose message is the reason why sleeps do not wait now.
   */
  delaySleep(why: string): Promise<void>;
  /** The present sleep, and later ones, need not wait. */
  allowSleep(): void;
  /**
   * Calls `listener` with true before the machine sleeps and with false after it has woken, from the first call of this
   * interface on. Returns a function that removes it. A listener must not throw.
   */
  onSleep(listener: (isGoingToSleep: boolean) => void): () => void;
}
