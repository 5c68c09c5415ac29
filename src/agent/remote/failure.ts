/** Why a machine cannot be reached, or its samples are not taken. */

/** Why a connection or a stream ended. */
export interface Failure {
  /** The machine answers, but refuses the hub, or is not the one that the pin names. */
  readonly isRefusal: boolean;
  /** The next attempt is later than after other failures: the machine sent more than the hub takes. */
  readonly isFlood?: boolean;
  /** A sentence without its full stop, for people. */
  readonly reason: string;
}

/** A sample that is not passed on; the message is the reason. */
export class BadSample extends Error {}
