/** Options of a listening socket that the addon sets. */

/** Settings of the listening socket; each accepted connection inherits them. */
export interface ListenerOptions {
  readonly notSentLowWaterBytes?: number;
  readonly userTimeoutMs?: number;
  readonly keepAliveIdleSeconds?: number;
  readonly keepAliveIntervalSeconds?: number;
  readonly keepAliveProbes?: number;
  readonly sendBufferBytes?: number;
  readonly receiveBufferBytes?: number;
  readonly backlog?: number;
}
