/** What a program says when it connects and when it asks. */
import type { SocketConstructor } from './connection.ts';
import type { Feedback } from './messages.ts';

export interface SocketOptions {
  /** Where the service is: `http://pc:9990`. */
  readonly url: string;
  /** Goes into the query of the upgrade, because a browser can send it nowhere else. */
  readonly key?: string | undefined;
  /** For Node 20, which has none of its own: that of the package ws. */
  readonly WebSocket?: SocketConstructor | undefined;
  /** Of requests without a limit of their own; 10,000 when not given. */
  readonly timeoutMs?: number | undefined;
  /** Aborted: as `close()`. */
  readonly signal?: AbortSignal | undefined;
}

export interface AskOptions {
  /** Aborted: the promise rejects with its reason. A command that was sent is carried out all the same. */
  readonly signal?: AbortSignal | undefined;
  /** How long the answer is waited for, beside what the command itself is given to take. */
  readonly timeoutMs?: number | undefined;
}

export interface CommandOptions extends AskOptions {
  /** Told of what comes before the end: `accepted`, `running`. */
  readonly onStage?: ((feedback: Feedback) => void) | undefined;
}

export interface SubscribeOptions {
  /** Instead of what is subscribed to (when not given), or beside it. */
  readonly mode?: 'replace' | 'add' | undefined;
  readonly detail?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GetOptions extends AskOptions {
  readonly detail?: boolean | undefined;
}

export type MediaAction =
  | 'play'
  | 'pause'
  | 'next'
  | 'prev'
  | 'previous'
  | 'play_pause'
  | 'stop'
  | 'seek'
  | 'set_volume'
  | 'volume_up'
  | 'volume_down';

export interface MediaOptions extends CommandOptions {
  /** Seconds for `seek`, 0–100 for `set_volume`. */
  readonly value?: number | undefined;
  readonly player?: string | undefined;
}

export type PowerAction = 'shutdown' | 'restart' | 'sleep' | 'hibernate' | 'lock' | 'cancel';

export interface PowerOptions extends CommandOptions {
  /** Seconds, up to a day. */
  readonly delay?: number | undefined;
  /** Over what programs hold against it. */
  readonly force?: boolean | undefined;
}

export interface ListOptions extends AskOptions {
  readonly sort?: 'cpu' | 'memory' | 'name' | undefined;
  readonly limit?: number | undefined;
  readonly query?: string | undefined;
  /** One row a name (when not given), or one row a process. */
  readonly grouped?: boolean | undefined;
}

/** One process, or all of a name. */
export type Target =
  | { readonly pid: number; readonly started_at?: number | undefined }
  | { readonly name: string };

export interface KillOptions extends CommandOptions {
  /** `term` asks it to end (when not given), `kill` ends it. */
  readonly by?: 'term' | 'kill' | undefined;
  /** Its children too, and theirs. */
  readonly tree?: boolean | undefined;
  /** How long the service waits for its end: 3000 when not given. */
  readonly endsWithinMs?: number | undefined;
}

export interface LaunchOptions extends CommandOptions {
  readonly args?: readonly string[] | undefined;
}
