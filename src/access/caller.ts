/** The client behind a request or a command, whichever way it came. */
import { ALL_SCOPES, type Scopes } from '../scopes.ts';
import type { AccessRequest } from './request.ts';

export interface Caller {
  /**
   * Its whole address in canonical form, without a zone; empty: unknown, or OWN_ACCOUNT. Limits count it, and
   * its /64 network if it is IPv6.
   */
  readonly address: string;
  /** It sent a key, or was let through in another way: no limit per address applies. */
  readonly isKeyed: boolean;
  /** The name of that key; with `via` the name of the hub's. */
  readonly key?: string | undefined;
  /** The scopes of that key, or those of guests. */
  readonly scopes: Scopes;
  /** The hub that it asked, and the name of its key there; absent: it asked this service. */
  readonly via?: { readonly hub: string; readonly key: string | undefined };
  /** The request, for the gate to judge again after a reload; absent: it did not come through the gate. */
  readonly request?: AccessRequest;
  /** Bytes kept for it, if they are long; undefined: too few to count. */
  readonly buffered?: { readonly key: object; readonly bytes: number } | undefined;
}

/** The program itself, for what it reads for all its clients: it has the capacity of a client with a key. */
export const OWN_ACCOUNT: Caller = { address: '', isKeyed: true, scopes: ALL_SCOPES };
