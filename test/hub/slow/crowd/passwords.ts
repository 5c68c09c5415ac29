/** At the broker of a test: of an agent or a hub. */
export const passwordOf = (user: string): string => `password-of-${user}`;
