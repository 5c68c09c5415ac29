/** What the machine reports about its own readings and commands: the rows of `hostwire doctor`. */

export interface Finding {
  /** One word in lower case, and the row's key: no other row of one machine has it. */
  readonly subject: string;
  /** 'partly': it serves, with something missing. */
  readonly status: 'works' | 'partly' | 'missing';
  /** What was found, and where it is read from. */
  readonly source: string;
  /** Why it does not work, or not fully, without a full stop; null where it works. */
  readonly reason: string | null;
  /** What it would take: a group, a module, a package, a setting; null where nothing is known to help. */
  readonly remedy: string | null;
}

/** What is described only by asking others (a bus, players, a list of processes): the configuration may forbid it. */
export type Capability = 'processes' | 'power' | 'media' | 'discovery';

/** Answers within a few seconds, without holding up the JavaScript thread. */
export interface Describer {
  describe(): Promise<readonly Finding[]>;
}
