import type { Caller } from '#src/access/caller.js';
import { ALL_SCOPES } from '#src/scopes.js';

/** A client that may do everything, with the key of this name or without one. */
export const callerAt = (address: string, key?: string): Caller => ({
  address,
  isKeyed: key !== undefined,
  key,
  scopes: ALL_SCOPES,
});

export const SENDER = callerAt('192.0.2.1');
