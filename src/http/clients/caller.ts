/** The client behind a request that passed the gate. */
import type { AccessRequest } from '../../access/request.ts';
import type { Shared } from './ledger.ts';

export interface Caller extends AccessRequest {
  /**
   * What its limits are counted by: the client's IPv4 address, or the first 64 bits of its IPv6 address, because one
   * machine has 2^64 of those.
   */
  readonly address: string;
  /** It sent the key: no limit per address applies. */
  readonly isKeyed: boolean;
  /** What is kept of it, where that is long; undefined: too little to count. */
  readonly kept?: Shared | undefined;
}
