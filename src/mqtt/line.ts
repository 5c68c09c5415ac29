/** One connection as a Link knows it, whatever it speaks: over MQTT to a broker, or over a WebSocket to a hub. */

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
  /** The other side does not speak this version of the protocol. */
  readonly isVersionRefused?: boolean;
  /** This side took its leave. */
  readonly isLeave: boolean;
  /** The other side was reached, and closed the connection without a word. */
  readonly isSilent?: boolean;
  /** Least time until the next attempt: it would end in the same way. */
  readonly pauseMs?: number;
}

export interface LineEvents {
  readonly onReady: () => void;
  readonly onMessage: (message: Message) => void;
  /** Called once. */
  readonly onEnd: (ending: Ending) => void;
}

export interface Line {
  readonly isReady: boolean;
  /** Sends it, or loses it. Resolves when the bytes were taken; rejects at the end of the connection. */
  send(topic: string, payload: string): Promise<void>;
  /** Rejects with Refusal where the other side says that it may not be sent. */
  deliver(topic: string, payload: string, isRetained?: boolean): Promise<void>;
  /** Resolves when the connection has ended. */
  leave(): Promise<void>;
  /** Asks the other side whether it is there, and ends without an answer. Absent where that is done all the time. */
  check?(): void;
  /** Ends it without a farewell, for `reason`. */
  cut(reason: string): void;
}

/** The other side does not let this one publish or subscribe. */
export class Refusal extends Error {}
