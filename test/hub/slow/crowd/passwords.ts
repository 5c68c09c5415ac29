/** At the broker of a test: of an agent or a hub. */
export const passwordOf = (user: string): string => `password-of-${user}`;

/** The key of an agent that dials in. */
export const dialKeyOf = (id: string): string => `dial-key-of-${id}`.padEnd(40, '-');
