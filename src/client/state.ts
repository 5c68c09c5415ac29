/** How a connection to the service stands. */
import type { ClientError } from './errors.ts';

export type ConnectionState =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  /** It was lost, or could not be made; the next attempt comes by itself. */
  | { readonly state: 'waiting'; readonly delayMs: number; readonly error: ClientError }
  /** For good: with an error when the service has refused, without one after `close()`. */
  | { readonly state: 'closed'; readonly error?: ClientError };
