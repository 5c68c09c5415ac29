/** The names and addresses of the attack: who is where. */

export const SERVICE_ADDRESS = '127.0.0.1';
/** The service's name in its owner's network. Browsers mark what they send there less than what goes to an address of loopback. */
export const SERVICE_NAME = 'pc.lan';
export const ATTACKER_ADDRESS = '127.0.0.2';

/** The attacker's web site. */
export const ATTACKER = 'attacker.test';
/** A second one, for a redirect by way of it. */
export const ACCOMPLICE = 'accomplice.test';
/** Browsers trust what ends so as they trust TLS: service workers, caches and deferred requests are to be had there. */
export const TRUSTED_NAME = 'attacker.localhost';
/** The owner's name: listed in `server.cors_origins` with the attacker's port. */
export const LISTED = 'good.test';
/** Names that begin and end as the listed one does. */
export const LISTED_AND_MORE = 'good.test.attacker.test';
export const MORE_AND_LISTED = 'evil-good.test';

/** The domain whose names are bound anew: not one that a stranger could not have registered. */
const REBOUND_DOMAIN = '.attacker.example.com';

const NAMES = new Set([ATTACKER, ACCOMPLICE, TRUSTED_NAME, LISTED, LISTED_AND_MORE, MORE_AND_LISTED]);

export const isAttackersName = (name: string) => NAMES.has(name);
export const isRebindable = (name: string) => name.endsWith(REBOUND_DOMAIN);
/** A name of its own for each run: what a browser remembers of another does not count. */
export const reboundName = (label: string) => `${label}${REBOUND_DOMAIN}`;
