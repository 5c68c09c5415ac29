/** Scopes, the things that a key allows: by name, and as sets of bits. */

/** A group stands for its members; `admin` stands for all. */
const BITS = {
  /** Stats, the system, history, events, and the status of power and media. */
  read: 1,
  /** Lists and details of processes, which have command lines, users and paths. */
  processes: 2,
  /** Ending and starting processes. */
  'processes.control': 4,
  media: 8,
  'power.shutdown': 16,
  'power.restart': 32,
  'power.sleep': 64,
  'power.hibernate': 128,
  'power.lock': 256,
  'power.cancel': 512,
  power: 0x3f0,
  /** Waking other machines. */
  wake: 1024,
  /** `/metrics`. */
  metrics: 2048,
  /** Naming the clients of a hub, and deadlines for them: the other scopes limit what is done. */
  hub: 4096,
  admin: 8191,
} as const;

export type Scope = keyof typeof BITS;
/** A set of scopes: the sum of their bits. */
export type Scopes = number;

/** All names, in the order of the documentation. */
// The table's own keys are exactly the names.
export const SCOPES = Object.keys(BITS) as readonly Scope[];

export const NO_SCOPES: Scopes = 0;
export const ALL_SCOPES: Scopes = BITS.admin;

export const isScope = (text: string): text is Scope => Object.hasOwn(BITS, text);

export const scopesOf = (names: readonly Scope[]): Scopes =>
  names.reduce((scopes, name) => scopes | BITS[name], NO_SCOPES);

/** Returns whether `scopes` has all of `needed`. */
export const allows = (scopes: Scopes, needed: Scope): boolean => (BITS[needed] & ~scopes) === 0;

/** Returns whether `scopes` has everything that `others` has. */
export const covers = (scopes: Scopes, others: Scopes): boolean => (others & ~scopes) === 0;

/** Returns the shortest list of names that stand for `scopes`, for people. */
export function namesOfScopes(scopes: Scopes): readonly Scope[] {
  const held = SCOPES.filter((name) => allows(scopes, name));
  // A group makes its members superfluous.
  return held.filter((name) => !held.some((other) => other !== name && (BITS[name] & ~BITS[other]) === 0));
}
