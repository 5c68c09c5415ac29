/** The interface of the open streams to the service and its routes: the fan-out, or another writer in its place. */

import type { Caller } from '../../access/caller.ts';
import type { Exchange } from '../../http/engine.ts';
import type { Headers } from '../../http/reply.ts';
import type { View } from '../../stats/view.ts';

export interface EventCounters {
  readonly sent: number;
  readonly skipped: number;
}

/** The open streams of a role, for its metrics. */
export interface StreamFigures {
  readonly size: number;
  /** By what sends them: the native writer, or the engine. */
  readonly senders: Readonly<Record<'writer' | 'engine', number>>;
  readonly eventCounters: EventCounters;
}

/** One sample as events: of this machine (Encoded), or of another one, which a hub passes on. */
export interface SampleEvents {
  /** `data: <JSON>\n\n`, the same bytes for all who want this view. */
  event(view: View): Buffer;
  /** For a subscriber that missed the sample before this one; absent: the same event. */
  whole?(view: View): Buffer;
}

export interface StreamServer {
  /** Open streams. */
  readonly size: number;
  /** Samples that the engine's own streams were sent since the start, and those that a full one was never sent. */
  readonly eventCounters: EventCounters;
  /** Seconds a full socket may stay full before it is cut. Infinity where PeerWatch or the kernel cuts stalled peers. */
  stallLimitSeconds: number;
  /** Replies with the stream's headers and `encoded`, then keeps the subscriber. `skipsNext`: the next tick is near. */
  open(
    exchange: Exchange,
    view: View,
    encoded: SampleEvents,
    headers: Headers,
    caller: Caller,
    skipsNext: boolean,
  ): void;
  /** Sends `encoded` to every subscriber. A distribution that is under way continues with it. */
  publish(encoded: SampleEvents): void;
  /** Drops the newest sample when all that have room have had it: for now none follows it. */
  forget(): void;
  /** Cuts every subscriber that `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void;
  /** Ends every stream on a frame boundary; returns how many still have to take what they were sent before. */
  close(): number;
}
