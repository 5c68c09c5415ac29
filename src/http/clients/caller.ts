/** The client behind a request that passed the gate. */
import type { AccessRequest } from '../../access/request.ts';
import type { Scopes } from '../../scopes.ts';
import type { Shared } from './buffer-quota.ts';

export interface Caller extends AccessRequest {
  /** Its whole address in canonical form, without a zone. Limits count it, and its /64 network if it is IPv6. */
  readonly address: string;
  /** It sent a key: no limit per address applies. */
  readonly isKeyed: boolean;
  /** The name of that key. */
  readonly key: string | undefined;
  /** The scopes of that key, or those of guests. */
  readonly scopes: Scopes;
  /** Bytes kept for it, if they are long; undefined: too few to count. */
  readonly buffered?: Shared | undefined;
}
