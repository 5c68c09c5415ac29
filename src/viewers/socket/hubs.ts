/** Which clients of WebSockets are hubs, which ask for many clients of their own. */
import type { Caller } from '../../access/caller.ts';
import { DEFAULT_KEY } from '../../access/key.ts';
import { allows } from '../../scopes.ts';

/** Whether a client has the limits of a hub. */
export const mayBeHub = ({ key, scopes }: Caller): boolean => key !== undefined && allows(scopes, 'hub');

/** Whether a client shows the state of the machine to others; one with `auth.api_key` may be a dashboard. */
export const isHub = (caller: Caller): boolean => mayBeHub(caller) && caller.key !== DEFAULT_KEY;
