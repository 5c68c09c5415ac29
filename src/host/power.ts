/** The machine's power manager as the platform reaches it. */

/** The actions that can be requested. */
export type PowerAction = 'shutdown' | 'restart' | 'sleep' | 'hibernate' | 'lock';

/** An announced end of the machine's work: `sleep` stands for a hibernation too, `shutdown` for a restart where the system does not tell them apart. */
export type PowerNotice = 'sleep' | 'shutdown' | 'restart';

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

/** Each call settles within about a second. Connection and thread are created by the first call. */
export interface PowerHost {
  support(action: PowerAction): Promise<PowerSupport>;
  /**
   * Sends `action` once; it overrides block inhibitors. Resolves when the power manager has accepted it. Rejects with an
   * Error whose message gives the reason.
   */
  act(action: PowerAction): Promise<void>;
  /** Rejects with an Error when they cannot be determined; empty if the platform has none. */
  inhibitors(): Promise<readonly PowerInhibitor[]>;
  /**
   * Makes each later sleep or shutdown wait for `allowSleep`, for a second at most, whichever program requests it; also
   * with a power manager that starts later. `why` is shown to users. Rejects with an Error whose message is the reason
   * why they are not delayed now.
   */
  delaySleep(why: string): Promise<void>;
  /** Lets the present sleep or shutdown, and later ones, proceed. */
  allowSleep(): void;
  /**
   * Calls `listener` before the machine sleeps, shuts down or restarts, and with null when it has woken or continues,
   * from the first call of this interface on. Returns a function that removes it. A listener must not throw.
   */
  onNotice(listener: (notice: PowerNotice | null) => void): () => void;
}
