/** The options of a socket and of its requests. */
import type { ServiceAccess } from './http.ts';
import type { Feedback } from './messages.ts';

/** The part of WebSocket that is used; the browser's, Node 22's and that of the package ws have it. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: SocketEvent) => void,
  ): void;
}

/** Any event of a socket. */
export interface SocketEvent {
  readonly type?: string;
  readonly data?: unknown;
  readonly code?: number;
  /** The reason of an error, with the package ws. */
  readonly error?: unknown;
}

export type SocketConstructor = new (url: string) => SocketLike;

export interface SocketOptions extends ServiceAccess {
  /** Sent in the query of the upgrade, because browsers cannot send headers with it. */
  readonly key?: string | undefined;
  /** For Node 20, which has no WebSocket: that of the package ws. Not used with a pin. */
  readonly WebSocket?: SocketConstructor | undefined;
  /** Time limit of requests that do not set one. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it is the same as `close()`. */
  readonly signal?: AbortSignal | undefined;
}

export interface AskOptions {
  /** Aborting it rejects the promise with its reason. A command that was sent is still carried out. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit for the answer, in addition to the time that the command itself may take. */
  readonly timeoutMs?: number | undefined;
}

export interface CommandOptions extends AskOptions {
  /** Called with the feedback before the final one: `accepted`, `running`. */
  readonly onStage?: ((feedback: Feedback) => void) | undefined;
}

export interface SubscribeOptions {
  /** `replace` (the default) the present subscriptions, or `add` to them. */
  readonly mode?: 'replace' | 'add' | undefined;
  readonly detail?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GetOptions extends AskOptions {
  readonly detail?: boolean | undefined;
}

export interface MediaOptions extends CommandOptions {
  /** Seconds for `seek`, 0–100 for `set_volume`. */
  readonly value?: number | undefined;
  readonly player?: string | undefined;
}

export type PowerAction = 'shutdown' | 'restart' | 'sleep' | 'hibernate' | 'lock' | 'cancel';

export interface PowerOptions extends CommandOptions {
  /** Seconds, up to a day. */
  readonly delay?: number | undefined;
  /** Overrides the inhibitors of programs. */
  readonly force?: boolean | undefined;
}

/** The selection of a query to the history. */
export interface HistoryQuery {
  /** Names, where `*` stands for any text. Default: the load, memory, network, disks and the first GPU. */
  readonly series?: readonly string[] | undefined;
  /** Unix seconds; negative: before now. Default: -3600. */
  readonly since?: number | undefined;
  /** Unix seconds; negative: before now. Default: now. */
  readonly until?: number | undefined;
  /** Seconds per slot. Default: as is right for that time. */
  readonly step?: number | undefined;
}

export interface HistoryOptions extends HistoryQuery, AskOptions {}

export interface ListOptions extends AskOptions {
  readonly sort?: 'cpu' | 'memory' | 'disk' | 'name' | undefined;
  readonly limit?: number | undefined;
  readonly query?: string | undefined;
  /** One row per name (the default), or one row per process. */
  readonly grouped?: boolean | undefined;
  /** With `read_rate` and `write_rate`; `sort: 'disk'` includes them too. */
  readonly disk?: boolean | undefined;
}

/** One process, or all processes of a name. */
export type Target =
  | { readonly pid: number; readonly started_at?: number | undefined }
  | { readonly name: string };

export interface KillOptions extends CommandOptions {
  /** `term` (the default) asks it to end, `kill` forces it. */
  readonly by?: 'term' | 'kill' | undefined;
  /** Also all its descendants. */
  readonly tree?: boolean | undefined;
  /** How long the service waits for the process to end. Default: 3000. */
  readonly endsWithinMs?: number | undefined;
}

export interface LaunchOptions extends CommandOptions {
  readonly args?: readonly string[] | undefined;
}
