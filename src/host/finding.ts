/** The machine's reports about its own readings and commands: the rows of `hostwire doctor`. */

export interface Finding {
  /** One word in lower case, the row's key: unique on one machine. */
  readonly subject: string;
  /** 'partly': it works, with something missing. */
  readonly status: 'works' | 'partly' | 'missing';
  /** The found value, and where it is read from. */
  readonly source: string;
  /** Why it does not work, or only in part, without a full stop; null if it works. */
  readonly reason: string | null;
  /** The remedy: a group, a module, a package, a setting; null if none is known. */
  readonly remedy: string | null;
}

/**
 * Capabilities described by asking others (a bus, players, a list of processes), which the configuration may forbid.
 */
export type Capability = 'processes' | 'power' | 'media' | 'discovery';

/** Answers within a few seconds, without blocking the JavaScript thread. */
export interface Describer {
  describe(): Promise<readonly Finding[]>;
}
