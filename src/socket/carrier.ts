/**
 * Carries text frames between a hub and a machine, each once and in order, and judges nothing: over a WebSocket that either
 * side has opened, or over a broker. What breaks that order ends the carrier.
 */

/** Why a carrier ended, or none was made. */
export interface Failure {
  /** The other side answers, but refuses this one, or is not the one that the pin names. */
  readonly isRefusal: boolean;
  /** The next attempt is later than after other failures: the other side sent more than is taken. */
  readonly isFlood?: boolean;
  /** A sentence without its full stop, for people. */
  readonly reason: string;
}

export const down = (reason: string): Failure => ({ isRefusal: false, reason });
export const refused = (reason: string): Failure => ({ isRefusal: true, reason });

const PLAIN = /^[A-Za-z][A-Za-z0-9 ,.;:'-]{0,99}$/;

/** Whether a reason of the other side may go into the log: only a few plain words may. */
export const isPlain = (reason: string): boolean => PLAIN.test(reason);

export interface Carrier {
  readonly isOpen: boolean;
  /** Bytes of frames that were not taken yet. */
  readonly waitingBytes: number;
  /** Sends a frame, or loses it with the carrier; calls `onSent` once its bytes were taken. */
  send(text: string, onSent?: () => void): void;
  /** Ends it, after what was sent where it is taken soon. `reason`: for the other side. `onEnd` is not called. */
  end(reason: string): void;
}

export interface CarrierEvents {
  /** `bytes` are valid during the call only. */
  onFrame(bytes: Buffer): void;
  /** A frame without content, such as a ping: it only counts. */
  onControl(): void;
  /** Called once, unless `end` came first. */
  onEnd(failure: Failure): void;
}
