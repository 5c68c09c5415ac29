/** The counters of the server over all its connections. */
import { Pace } from '../clients/pace.ts';

/**
 * uWebSockets.js does not report the bytes that wait after an answer without a body. Beyond this pace such an answer is
 * therefore the last one. A peer that takes nothing for 20 s is cut (connections/peers.ts).
 */
const BARE_PER_SECOND = 1000;

export class Counters {
  /** Requests that are neither answered nor streams yet. */
  pending = 0;
  /** Connections closed so far. */
  closes = 0;
  /** Open connections, idle ones included. */
  connections = 0;
  readonly bare = new Pace(BARE_PER_SECOND, 1000);
}
