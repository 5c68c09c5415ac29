/** The power manager of the machine as the platform reaches it. */

/** What it can be asked to do. */
export type PowerAction = 'shutdown' | 'restart' | 'sleep' | 'hibernate' | 'lock';

export interface PowerSupport {
  readonly isSupported: boolean;
  /** Why not, as a sentence without a full stop; null where it is. */
  readonly reason: string | null;
}

/** A program that blocks an act; one that only delays it is not told of. */
export interface PowerInhibitor {
  readonly who: string;
  readonly why: string;
  /** As logind spells it: what is held off, separated by colons. */
  readonly what: string;
  readonly uid: number;
}

export interface PowerAuthority {
  /** Who is asked; null where there is nobody. */
  readonly name: string | null;
  /** By which way: the address of a bus. Empty where there is none. */
  readonly reached: string;
  /** Why there is nobody; null where there is. */
  readonly reason: string | null;
}

/** Each answer comes within about a second. Nothing is reached, and no thread runs, before the first question. */
export interface PowerHost {
  support(action: PowerAction): Promise<PowerSupport>;
  /**
   * Hands `action` over, once; overrides block inhibitors. Settles when the power manager has taken it. Rejects
   * with an Error whose message says why it failed.
   */
  act(action: PowerAction): Promise<void>;
  /** Rejects with an Error when they can't be known; empty where there is nothing like it. */
  inhibitors(): Promise<readonly PowerInhibitor[]>;
  authority(): Promise<PowerAuthority>;
  /**
   * Calls `listener` with true when the machine is about to sleep and with false when it has woken, from the first
   * question on. What is returned ends that. A listener must not throw.
   */
  onSleep(listener: (isGoingToSleep: boolean) => void): () => void;
}
