/** The state of a connection to the service. */
import type { ClientError } from './errors.ts';

export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /** The connection was lost or failed; the next attempt follows after the delay. */
  | { readonly state: 'waiting'; readonly delayMs: number; readonly error: ClientError }
  /** Closed for good: with an error when the service refused, without one after `close()`. */
  | { readonly state: 'closed'; readonly error?: ClientError };
