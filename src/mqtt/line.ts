/** The messages of a connection to a broker, and its end. */

export interface Message {
  readonly topic: string;
  readonly payload: Buffer;
  /** The broker keeps it for later subscribers. */
  readonly isRetained: boolean;
  /** It was sent before, perhaps on another connection. */
  readonly isRepeated: boolean;
  readonly qos: 0 | 1 | 2;
}

/** Why a connection ended, or none was made. */
export interface Ending {
  readonly reason: string;
  readonly wasReady: boolean;
  /** The broker does not speak this version of the protocol. */
  readonly isVersionRefused?: boolean;
  /** This side took its leave. */
  readonly isLeave: boolean;
  /** The broker was reached, and closed the connection without a word. */
  readonly isSilent?: boolean;
}

export interface ConnectionEvents {
  readonly onReady: () => void;
  readonly onMessage: (message: Message) => void;
  /** Called once. */
  readonly onEnd: (ending: Ending) => void;
}

/** The broker does not let this client publish or subscribe. */
export class Refusal extends Error {}
