/** The client behind a request that passed the gate. */
import type { AccessRequest } from '../../access/request.ts';
import type { Shared } from './ledger.ts';

export interface Caller extends AccessRequest {
  /** Its whole address in canonical form, without a zone. Limits count it, and its /64 network if it is IPv6. */
  readonly address: string;
  /** It sent the key: no limit per address applies. */
  readonly isKeyed: boolean;
  /** What is kept of it, where that is long; undefined: too little to count. */
  readonly kept?: Shared | undefined;
}
