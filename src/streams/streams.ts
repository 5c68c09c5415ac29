/** All event streams of a role: the fan-outs, made with the first stream of a view and gone with the last, and what they share. */

import type { Caller } from '../access/caller.ts';
import { type Clock, type Defer, deferToNextTurn } from '../clock.ts';
import type { Quota } from '../fairness/quota.ts';
import type { StreamHost } from '../host/streams.ts';
import type { Counting } from '../http/clients/viewer-counts.ts';
import type { View } from '../stats/view.ts';
import type { Opening } from './engine-fanout.ts';
import { Fanout, type FanoutDeps } from './fanout.ts';
import { StreamPool } from './pool.ts';
import type { MachineSamples } from './sample.ts';

/** The open streams of a role, for its metrics. */
export interface StreamFigures {
  readonly size: number;
  /** By what sends them: the native writer, or the engine. */
  readonly senders: Readonly<Record<'writer' | 'engine', number>>;
  /** Events that were sent since the start, and those that a full stream was never sent. */
  readonly eventCounters: { readonly sent: number; readonly skipped: number };
}

export interface StreamsOptions {
  readonly clock: Clock;
  readonly quota: Quota;
  readonly counts: Counting;
  /** undefined: this platform has no native writer. */
  readonly host?: StreamHost | undefined;
  /** For tests. */
  readonly defer?: Defer;
  readonly stallLimitSeconds?: number;
}

/**
 * A full stream that takes nothing for this long is cut. The kernel's timer, TCP_USER_TIMEOUT, is longer: it adds up the stalls
 * of a reader that stalls now and then, and cuts it too early.
 */
const STALL_SECONDS = 30;

interface FanoutOptions {
  readonly begin?: (fanout: Fanout) => () => void;
  readonly counts?: Counting;
}

export class Streams {
  readonly #deps: FanoutDeps;
  readonly #counts: Counting;
  readonly #fanouts = new Set<Fanout>();
  /** Those of samples, by source and view: most sources have one. */
  readonly #ofSamples = new Map<MachineSamples, Map<View, Fanout>>();
  #size = 0;
  #isClosed = false;

  constructor(options: StreamsOptions) {
    const {
      clock,
      quota,
      counts,
      host,
      defer = deferToNextTurn,
      stallLimitSeconds = STALL_SECONDS,
    } = options;
    const pool = host && new StreamPool(host, quota, stallLimitSeconds * 1000);
    const events = { sent: 0, skipped: 0 };
    this.#deps = { clock, quota, defer, pool, events, stallLimitSeconds };
    this.#counts = counts;
  }

  /** Open streams. */
  get size(): number {
    return this.#size;
  }

  get figures(): StreamFigures {
    const { pool, events } = this.#deps;
    const writer = pool?.size ?? 0;
    const { sent, skipped } = pool?.events ?? { sent: 0, skipped: 0 };
    return {
      size: this.#size,
      senders: { writer, engine: this.#size - writer },
      eventCounters: { sent: events.sent + sent, skipped: events.skipped + skipped },
    };
  }

  /** Streams that the native writer has. */
  get adopted(): number {
    return this.#deps.pool?.size ?? 0;
  }

  /** Ended, and the native writer has not sent all of them their end. */
  get isEnding(): boolean {
    return this.#deps.pool?.isEnding === true;
  }

  /** Opens a stream of the samples of `source` with `view`. */
  open(source: MachineSamples, view: View, opening: Opening): void {
    const fanout = this.#ofSamples.get(source)?.get(view) ?? this.#createOfSamples(source, view);
    fanout.open(opening);
  }

  /**
   * A fan-out among those of the role. `begin`: called with its first stream; what it returns is called with the last.
   * `counts`: also notified of its streams.
   */
  create({ begin, counts }: FanoutOptions): Fanout {
    let end: (() => void) | undefined;
    const fanout: Fanout = new Fanout(this.#deps, {
      opened: (caller) => {
        this.#size++;
        this.#counts.opened(caller);
        counts?.opened(caller);
        if (this.#fanouts.has(fanout)) return;
        this.#fanouts.add(fanout);
        end = begin?.(fanout);
      },
      closed: (caller) => {
        this.#size--;
        this.#counts.closed(caller);
        counts?.closed(caller);
        if (fanout.size > 0) return;
        this.#fanouts.delete(fanout);
        end?.();
      },
    });
    if (this.#isClosed) fanout.close();
    return fanout;
  }

  /** Cuts every stream whose caller `passes` no longer lets through. */
  revalidate(passes: (caller: Caller) => boolean): void {
    for (const fanout of [...this.#fanouts]) fanout.revalidate(passes);
    this.#deps.pool?.revalidate(passes);
  }

  /** Ends every stream at the end of an event; returns how many still have to take what they were sent before. */
  close(): number {
    this.#isClosed = true;
    return [...this.#fanouts].reduce((full, fanout) => full + fanout.close(), 0);
  }

  /** After `close`: ends what the native writer still has, and gives it no stream any more. */
  end(): void {
    this.#deps.pool?.end();
  }

  #createOfSamples(source: MachineSamples, view: View): Fanout {
    const begin = (fanout: Fanout) => {
      const ofSource = this.#ofSamples.get(source) ?? new Map<View, Fanout>();
      ofSource.set(view, fanout);
      this.#ofSamples.set(source, ofSource);
      const subscription = source.subscribe(view, {
        publish: (sample) => fanout.publish({ bytes: sample.event(view) }),
        forget: () => fanout.forget(),
        close: () => void fanout.close(),
      });
      return () => {
        subscription.end();
        ofSource.delete(view);
        if (ofSource.size === 0) this.#ofSamples.delete(source);
      };
    };
    return this.create({ begin });
  }
}
